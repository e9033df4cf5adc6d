// SPDX-License-Identifier: MIT
// Words of a script: quoting, expansions, and what is nested in them.
#pragma once

#include <optional>

#include "core/shell/script_cursor.hpp"

namespace hpcml::shell {

/// Reads words with their quoted parts, parameters, substitutions and arithmetic.
class WordParser : public ScriptCursor {
protected:
  enum class Ends { word, pattern, regex }; ///< what may be in a word in addition to the usual

  using ScriptCursor::ScriptCursor;

  Word parse_word(Ends ends = Ends::word);
  bool at_word_end(Ends ends, int parens) const;
  void add_literal(Word& word, std::size_t begin, std::size_t end, bool quoted);
  void parse_quoted_text(Word& word, char end);
  bool parse_arithmetic(Word& word, bool quoted);
  std::optional<std::size_t> end_of_arithmetic(std::size_t from) const;
  void parse_parens(Word& word);
  void parse_single(Word& word);

private:
  /// The commands of a substitution, up to what ends the list `of`.
  virtual SyntaxNode parse_list(std::string_view of) = 0;
  void parse_escape(Word& word);
  void parse_ansi(Word& word);
  void parse_double(Word& word);
  void parse_dollar(Word& word, bool quoted);
  void parse_name(Word& word, bool quoted);
  void parse_braces(Word& word, bool quoted);
  void parse_parameter(ParameterExpansion& parameter);
  void parse_subscript(ParameterExpansion& parameter);
  void parse_operand(ParameterExpansion& parameter, bool quoted);
  void parse_backquotes(Word& word, bool quoted);
  void parse_substitution(Word& word, WordPart::Kind kind, bool quoted);
};

} // namespace hpcml::shell
