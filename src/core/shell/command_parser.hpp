// SPDX-License-Identifier: MIT
// Lists, pipelines and simple commands of a script.
#pragma once

#include <optional>

#include "core/shell/redirect_parser.hpp"

namespace hpcml::shell {

/// Reads all commands but the compound ones, which its subclass reads.
class CommandParser : public RedirectParser {
public:
  /// The whole text as a list; never throws.
  SyntaxNode parse_program();

protected:
  using RedirectParser::RedirectParser;

  /// `if`, `for`, `{`, `(` and the like; nothing if none begins here.
  virtual std::optional<SyntaxNode> parse_compound() = 0;
  void parse_line(std::vector<SyntaxNode>& commands);
  SyntaxNode parse_list(std::string_view of) override;
  bool at_list_end() const;
  SyntaxNode parse_pipeline();
  SyntaxNode parse_command();
  std::size_t subscript_length(std::size_t ahead) const;
  bool at_assignment() const;
  Assignment parse_assignment();
  void join_parens(Word& word, std::size_t begin);
  SyntaxNode parse_function_body(std::size_t begin, std::string name);

private:
  bool parse_link(SyntaxNode& node);
  SyntaxNode parse_simple();
  bool parse_simple_piece(SyntaxNode& node);
  void parse_array(Assignment& assignment);
  void unread(SyntaxNode& program, std::size_t begin, const Failure& failure);

  std::size_t x_work = 0; ///< characters read again after failures
};

} // namespace hpcml::shell
