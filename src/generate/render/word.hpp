// SPDX-License-Identifier: MIT
// Words of shell commands: a literal, which is quoted, or an expression, which the product wrote.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hpcml::render {

/// One word of a command. Texts of the user, and literals of a profile, are literals; only templates and this
/// layer create expressions.
class ScriptWord {
public:
  static ScriptWord literal(std::string text) { return ScriptWord(std::move(text), false); }
  static ScriptWord expression(std::string text) { return ScriptWord(std::move(text), true); }
  /// The word as the shell must read it.
  std::string to_shell() const;

private:
  ScriptWord(std::string text, bool expression) : x_text(std::move(text)), x_expression(expression) {}
  std::string x_text;
  bool x_expression;
};

using ScriptWords = std::vector<ScriptWord>;

/// Literal words, one per text.
ScriptWords literals(const std::vector<std::string>& texts);
/// Returns all words in order, separated by spaces.
std::string join_words(const ScriptWords& words);
/// The same on several lines of at most 110 columns, which a word that fits on no line exceeds. An option and
/// its value stay on one line. Lines after the first start with `indent`; the first one starts at column
/// `column`. `after`: columns that follow the last word.
std::string wrap_words(const ScriptWords& words, std::size_t column = 0, std::string_view indent = "  ",
                       std::size_t after = 0);

/// Returns `word` quoted for bash in the most readable form without a warning of shellcheck. Control
/// characters become $'\n', invisible ones and those that change the direction of text $'\342\200\256'.
std::string quote_word(std::string_view word);
/// `text` in single quotes whatever it holds: for programs given to `bash -c`.
std::string quote_program(std::string_view text);
/// A path in which "$NAME", "${NAME}" and "${NAME:-word}" are variables and everything else is literal:
/// "$SLURM_TMPDIR/env".
std::string quote_path(std::string_view path);
/// Returns a profile's words with "$NAME" and "${NAME}" in double quotes; a variable that is not set is
/// empty.
std::string quote_expression(std::string_view text);
/// The same for a list of directories with colons: a variable that is not set leaves no empty item, which
/// would mean the current directory.
std::string quote_search_path(std::string_view text);
/// Returns the text for a comment, with invisible characters as escapes.
std::string comment_text(std::string_view text);

} // namespace hpcml::render
