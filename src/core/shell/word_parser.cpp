// SPDX-License-Identifier: MIT
#include "core/shell/word_parser.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/shell/parse_program.hpp"
#include "core/shell/shell_names.hpp"
#include "core/shell/word_chars.hpp"

namespace hpcml::shell {

namespace {

constexpr bool is_quoting(char c) { return c == '\\' || c == '\'' || c == '"' || c == '$' || c == '`'; }
bool is_special(char c) { return c != '\0' && std::string_view("@*#?-$!").find(c) != std::string_view::npos; }

} // namespace

bool WordParser::at_word_end(Ends ends, int parens) const {
  const char c = at();
  if (!is_meta(c)) return false;
  if ((c == '<' || c == '>') && at(1) == '(' && ends == Ends::word) return false;
  if (ends != Ends::regex) return true;
  // A regular expression keeps its bars and brackets; spaces end it outside of brackets only.
  if (c == '(' || c == '|') return false;
  if (c == ')') return parens == 0;
  return parens == 0 || c == '\n';
}

Word WordParser::parse_word(Ends ends) {
  const Level level(*this);
  Word word;
  const auto begin = x_at;
  int parens = 0;
  while (!done() && !at_word_end(ends, parens)) {
    const char c = at();
    const bool group =
        ends != Ends::regex && at(1) == '(' && std::string_view("?*+@!").find(c) != std::string_view::npos;
    if (c == '\\')
      parse_escape(word);
    else if (c == '\'')
      parse_single(word);
    else if (c == '"')
      parse_double(word);
    else if (c == '$')
      parse_dollar(word, false);
    else if (c == '`')
      parse_backquotes(word, false);
    else if ((c == '<' || c == '>') && at(1) == '(' && ends == Ends::word) {
      ++x_at;
      parse_substitution(word, WordPart::Kind::process, false);
    } else if (group && (ends == Ends::pattern || x_extglob))
      parse_parens(word);
    else {
      const auto from = x_at;
      do {
        parens += ends != Ends::regex ? 0 : at() == '(' ? 1 : at() == ')' ? -1 : 0;
        ++x_at;
      } while (!done() && !is_quoting(at()) && !at_word_end(ends, parens) && !(at(1) == '('));
      add_literal(word, from, x_at, false);
    }
  }
  if (x_at == begin) unexpected();
  word.place = place_from(begin);
  return word;
}

/// `@(a|b)`: kept as it is written; it is a pattern, never a known text.
void WordParser::parse_parens(Word& word) {
  const auto begin = x_at;
  if (at() != '(') ++x_at;
  int depth = 0;
  do {
    if (done()) fail("`(` of a pattern is not closed");
    if (at() == '\\')
      ++x_at;
    else if (at() == '(')
      ++depth;
    else if (at() == ')')
      --depth;
    ++x_at;
  } while (depth > 0);
  x_at = std::min(x_at, x_text.size());
  add_literal(word, begin, x_at, false);
}

void WordParser::add_literal(Word& word, std::size_t begin, std::size_t end, bool quoted) {
  auto from = begin;
  const auto piece = [&](std::size_t to) {
    if (to == from) return;
    WordPart part;
    part.quoted = quoted;
    part.place = x_source.place_of(from, to);
    part.text = x_text.substr(from, to - from);
    word.parts.push_back(std::move(part));
  };
  // A part is in the file without gaps: one ends where a CR or a tab of the file is omitted.
  for (auto i = begin; i < end && !x_source.places.empty(); ++i) {
    if (i > from && x_source.place_of(i) != x_source.place_of(i - 1) + 1) {
      piece(i);
      from = i;
    }
    const auto* hole = x_text[i] == k_hole ? x_source.hole_at(i) : nullptr;
    if (!hole) continue;
    piece(i);
    WordPart part;
    part.kind = WordPart::Kind::hole;
    part.quoted = quoted;
    part.place = x_source.place_of(i, i + 1);
    part.text = hole->reason;
    word.parts.push_back(std::move(part));
    from = i + 1;
  }
  piece(end);
}

void WordParser::parse_escape(Word& word) {
  if (x_at + 1 >= x_text.size()) {
    add_literal(word, x_at, x_at + 1, true);
    ++x_at;
    return;
  }
  if (at(1) != '\n') add_literal(word, x_at + 1, x_at + 2, true);
  x_at += 2;
}

void WordParser::parse_single(Word& word) {
  const auto end = x_text.find('\'', x_at + 1);
  if (end == std::string::npos) fail("a `'` is not closed");
  if (end == x_at + 1) {
    WordPart empty;
    empty.quoted = true;
    empty.place = x_source.place_of(end, end);
    word.parts.push_back(std::move(empty));
  }
  add_literal(word, x_at + 1, end, true);
  x_at = end + 1;
}

/// $'…': simple escapes are resolved; of the others the text counts as not known.
void WordParser::parse_ansi(Word& word) {
  const auto begin = x_at;
  x_at += 2;
  WordPart part;
  part.quoted = true;
  static constexpr std::array<std::pair<char, char>, 12> k_escapes = {{{'n', '\n'},
                                                                       {'t', '\t'},
                                                                       {'r', '\r'},
                                                                       {'a', '\a'},
                                                                       {'b', '\b'},
                                                                       {'f', '\f'},
                                                                       {'v', '\v'},
                                                                       {'e', '\033'},
                                                                       {'E', '\033'},
                                                                       {'\\', '\\'},
                                                                       {'\'', '\''},
                                                                       {'"', '"'}}};
  while (!done() && at() != '\'') {
    if (at() != '\\') {
      part.text += at();
      if (x_source.hole_at(x_at)) part.kind = WordPart::Kind::hole;
      ++x_at;
      continue;
    }
    const auto* found =
        std::find_if(k_escapes.begin(), k_escapes.end(), [this](const auto& e) { return e.first == at(1); });
    if (found == k_escapes.end())
      part.kind = WordPart::Kind::hole;
    else
      part.text += found->second;
    x_at += 2;
  }
  if (done()) {
    x_at = begin;
    fail("a `$'` is not closed");
  }
  ++x_at;
  if (part.kind == WordPart::Kind::hole) part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  word.parts.push_back(std::move(part));
}

void WordParser::parse_double(Word& word) {
  const auto begin = x_at++;
  const auto count = word.parts.size();
  parse_quoted_text(word, '"');
  if (done()) {
    x_at = begin;
    fail("a `\"` is not closed");
  }
  ++x_at;
  if (word.parts.size() != count) return;
  WordPart empty;
  empty.quoted = true;
  empty.place = x_source.place_of(x_at - 1, x_at - 1);
  word.parts.push_back(std::move(empty));
}

/// Text in which only `$`, backquotes and some backslashes mean something, up to `end` ('\0': the end of the
/// text).
void WordParser::parse_quoted_text(Word& word, char end) {
  while (!done() && (end == '\0' || at() != end)) {
    const auto from = x_at;
    while (!done() && at() != '\\' && at() != '$' && at() != '`' && (end == '\0' || at() != end)) ++x_at;
    add_literal(word, from, x_at, true);
    if (done() || (end != '\0' && at() == end)) return;
    if (at() == '$')
      parse_dollar(word, true);
    else if (at() == '`')
      parse_backquotes(word, true);
    else {
      const char next = at(1);
      const bool special = next == '$' || next == '`' || next == '\\' || (end == '"' && next == '"');
      if (x_at + 1 >= x_text.size())
        add_literal(word, x_at, x_at + 1, true);
      else if (special)
        add_literal(word, x_at + 1, x_at + 2, true);
      else if (next != '\n')
        add_literal(word, x_at, x_at + 2, true);
      x_at = std::min(x_at + 2, x_text.size());
    }
  }
}

void WordParser::parse_dollar(Word& word, bool quoted) {
  const Level level(*this);
  const char next = at(1);
  if (!quoted && next == '\'') return parse_ansi(word);
  if (!quoted && next == '"') {
    ++x_at;
    return parse_double(word);
  }
  if (next == '{') return parse_braces(word, quoted);
  if (next == '(') {
    if (at(2) == '(' && parse_arithmetic(word, quoted)) return;
    ++x_at;
    return parse_substitution(word, WordPart::Kind::command, quoted);
  }
  if (next == '[') {
    const auto end = x_text.find(']', x_at);
    if (end == std::string::npos) fail("`$[` is not closed");
    WordPart part;
    part.kind = WordPart::Kind::arithmetic;
    part.quoted = quoted;
    part.text = x_text.substr(x_at, end + 1 - x_at);
    part.place = x_source.place_of(x_at, end + 1);
    word.parts.push_back(std::move(part));
    x_at = end + 1;
    return;
  }
  if (is_name_char(next) || is_special(next)) return parse_name(word, quoted);
  add_literal(word, x_at, x_at + 1, quoted);
  ++x_at;
}

void WordParser::parse_name(Word& word, bool quoted) {
  const auto begin = x_at++;
  const auto from = x_at++;
  if (is_name_start(x_text[from]))
    while (is_name_char(at())) ++x_at;
  WordPart part;
  part.kind = WordPart::Kind::parameter;
  part.quoted = quoted;
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  part.parameter = std::make_unique<ParameterExpansion>();
  part.parameter->name = x_text.substr(from, x_at - from);
  word.parts.push_back(std::move(part));
}

void WordParser::parse_braces(Word& word, bool quoted) {
  const auto begin = x_at;
  x_at += 2;
  auto parameter = std::make_unique<ParameterExpansion>();
  parse_parameter(*parameter);
  parse_operand(*parameter, quoted);
  if (at() != '}' || done()) {
    x_at = begin;
    fail("`${` is not closed");
  }
  ++x_at;
  WordPart part;
  part.kind = WordPart::Kind::parameter;
  part.quoted = quoted;
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  part.parameter = std::move(parameter);
  word.parts.push_back(std::move(part));
}

/// What is after `${`, up to the operand.
void WordParser::parse_parameter(ParameterExpansion& parameter) {
  if ((at() == '#' || at() == '!') &&
      (is_name_char(at(1)) || ((at(1) == '@' || at(1) == '*') && at(2) == '}')))
    parameter.prefix = x_text[x_at++];
  const auto from = x_at;
  if (is_name_start(at()))
    while (is_name_char(at())) ++x_at;
  else if (is_digit(at()))
    while (is_digit(at())) ++x_at;
  else if (is_special(at()))
    ++x_at;
  parameter.name = x_text.substr(from, x_at - from);
  if (at() == '[') parse_subscript(parameter);
  static constexpr std::array<std::string_view, 21> k_operators = {":-", ":=", ":+", ":?", "##", "%%", "//",
                                                                   "/#", "/%", "^^", ",,", "-",  "=",  "+",
                                                                   "?",  "#",  "%",  "/",  "^",  ",",  "@"};
  for (const auto op : k_operators)
    if (sees(op)) {
      parameter.op = op;
      x_at += op.size();
      break;
    }
  if (parameter.op.empty() && at() == ':') {
    parameter.op = ":";
    ++x_at;
  }
  if (parameter.name.empty() || (parameter.op.empty() && at() != '}')) parameter.op = "bad";
}

void WordParser::parse_subscript(ParameterExpansion& parameter) {
  const auto from = ++x_at;
  int depth = 1;
  while (!done() && at() != '\n') {
    if (at() == '[')
      ++depth;
    else if (at() == ']' && --depth == 0)
      break;
    ++x_at;
  }
  parameter.subscript = x_text.substr(from, x_at - from);
  if (at() == ']')
    ++x_at;
  else
    parameter.op = "bad";
}

void WordParser::parse_operand(ParameterExpansion& parameter, bool quoted) {
  const auto begin = x_at;
  // Within double quotes a single quote is plain text, except in patterns; it hides a brace anyway.
  bool hides = false;
  const bool plain_quotes =
      quoted &&
      std::string_view("%#/^,").find(parameter.op.empty() ? 'x' : parameter.op[0]) == std::string_view::npos;
  auto& word = parameter.operand;
  while (!done() && (at() != '}' || hides)) {
    const char c = at();
    if (plain_quotes && c == '\'') hides = !hides;
    if (c == '\\' && quoted && at(1) != '\n' &&
        std::string_view("$`\"\\}").find(at(1)) == std::string_view::npos) {
      add_literal(word, x_at, std::min(x_at + 2, x_text.size()), true);
      x_at = std::min(x_at + 2, x_text.size());
    } else if (c == '\\')
      parse_escape(word);
    else if (c == '\'' && !plain_quotes)
      parse_single(word);
    else if (c == '"')
      parse_double(word);
    else if (c == '$')
      parse_dollar(word, quoted);
    else if (c == '`')
      parse_backquotes(word, quoted);
    else {
      const auto from = x_at;
      do ++x_at;
      while (!done() && std::string_view("}\\'\"$`").find(at()) == std::string_view::npos);
      add_literal(word, from, x_at, quoted);
    }
  }
  word.place = place_from(begin);
}

void WordParser::parse_substitution(Word& word, WordPart::Kind kind, bool quoted) {
  const auto begin = x_at - 1; // at '$', '<' or '>'
  ++x_at;
  WordPart part;
  part.kind = kind;
  part.quoted = quoted;
  part.body = std::make_unique<SyntaxNode>(parse_list(""));
  skip_blanks();
  if (at() != ')') {
    if (!done()) unexpected();
    x_at = begin;
    fail(fmt::format("`{}` is not closed", x_text.substr(begin, 2)));
  }
  ++x_at;
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  word.parts.push_back(std::move(part));
}

/// Backquotes keep their own backslashes; the text between them is read as a script.
void WordParser::parse_backquotes(Word& word, bool quoted) {
  const Level level(*this);
  const auto begin = x_at++;
  SourceText inner;
  while (!done() && at() != '`') {
    const bool escape =
        at() == '\\' && (at(1) == '`' || at(1) == '\\' || at(1) == '$' || (quoted && at(1) == '"'));
    if (escape) ++x_at;
    if (const auto* hole = x_source.hole_at(x_at))
      inner.add_hole(hole->reason, x_source.place_of(x_at, x_at + 1));
    else
      inner.add(std::string_view(x_text).substr(x_at, 1), x_source.place_of(x_at, x_at + 1));
    ++x_at;
  }
  if (done()) {
    x_at = begin;
    fail("a backquote is not closed");
  }
  inner.places.push_back(x_source.place_of(x_at));
  ++x_at;
  WordPart part;
  part.kind = WordPart::Kind::command;
  part.quoted = quoted;
  part.body = std::make_unique<SyntaxNode>(parse_program(inner, x_depth, x_extglob));
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  word.parts.push_back(std::move(part));
}

bool WordParser::parse_arithmetic(Word& word, bool quoted) {
  const auto end = end_of_arithmetic(x_at + 3);
  if (!end) return false;
  WordPart part;
  part.kind = WordPart::Kind::arithmetic;
  part.quoted = quoted;
  part.text = x_text.substr(x_at, *end + 2 - x_at);
  part.place = x_source.place_of(x_at, *end + 2);
  word.parts.push_back(std::move(part));
  x_at = *end + 2;
  return true;
}

/// The offset of the `))` that ends an arithmetic text; nothing where it is a subshell in a subshell instead.
std::optional<std::size_t> WordParser::end_of_arithmetic(std::size_t from) const {
  int depth = 0;
  for (auto i = from; i < x_text.size(); ++i) {
    const char c = x_text[i];
    if (c == '\\')
      ++i;
    else if (c == '\'' || c == '"') {
      const auto close = x_text.find(c, i + 1);
      if (close == std::string::npos) return std::nullopt;
      i = close;
    } else if (c == '(')
      ++depth;
    else if (c == ')' && depth > 0)
      --depth;
    else if (c == ')')
      return i + 1 < x_text.size() && x_text[i + 1] == ')' ? std::optional(i) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace hpcml::shell
