// SPDX-License-Identifier: MIT
// Redirections and here-documents of a script.
#pragma once

#include <memory>

#include "core/shell/word_parser.hpp"

namespace hpcml::shell {

/// Reads redirections, and the bodies of here-documents where the next line begins.
class RedirectParser : public WordParser {
protected:
  using WordParser::WordParser;

  std::size_t redirect_operator() const;
  void parse_redirects(SyntaxNode& node);
  Redirect parse_redirect();
  void read_here_documents();

  std::vector<std::shared_ptr<HereDocument>> x_pending; ///< whose bodies begin at the next line

private:
  void on_line_start() override {
    if (!x_pending.empty()) read_here_documents();
  }
  void parse_delimiter(HereDocument& document);
  void read_here_document(HereDocument& document);
};

} // namespace hpcml::shell
