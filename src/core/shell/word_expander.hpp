// SPDX-License-Identifier: MIT
// Expansions of words: what bash makes of them.
#pragma once

#include "core/shell/execution_paths.hpp"

namespace hpcml::shell {

/// Expands words into arguments, of which some parts may be unknown.
class WordExpander : public ExecutionPaths {
protected:
  using ExecutionPaths::ExecutionPaths;

  /// The words of one expansion, as they are put together.
  struct Fields {
    std::vector<Argument> words;
    Argument current;
    bool started = false;  ///< `current` is a word even if it is empty
    bool glob = false;     ///< an unquoted sign of a file pattern is in `current`
    bool no_words = false; ///< an empty list is in quotes: "${a[@]}"
    bool split = true;
    std::size_t size = 0;
  };

  void expand(const Word& word, std::vector<Argument>& words);
  Argument expand_single(const Word& word);
  void expand_part(const WordPart& part, Fields& fields, bool first);
  void expand_tilde(const WordPart& part, Fields& fields, bool first);
  void expand_parts(const std::vector<WordPart>& parts, Fields& fields);
  void add_known(Fields& fields, const std::string& text, TextRange place, bool quoted);
  void add_unknown(Fields& fields, const std::string& reason, TextRange place, bool many,
                   const FallbackText& fallback = {});
  void add_argument(Fields& fields, const Argument& word, TextRange place, bool quoted, bool caveat);
  void end_word(Fields& fields);

  virtual void expand_parameter(const WordPart& part, Fields& fields) = 0;
  virtual std::optional<long long> evaluate(std::string_view text) const = 0;
  virtual bool is_stale(std::string_view name) const = 0;
};

} // namespace hpcml::shell
