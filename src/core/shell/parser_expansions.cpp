// SPDX-License-Identifier: MIT
#include "core/shell/parser.hpp"

#include <algorithm>
#include <array>

#include "core/shell/shell_names.hpp"

namespace hpcml::shell {

namespace {

bool is_special(char c) { return c != '\0' && std::string_view("@*#?-$!").find(c) != std::string_view::npos; }

} // namespace

void Parser::parse_dollar(Word& word, bool quoted) {
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
    return parse_substitution(word, Part::Kind::command, quoted);
  }
  if (next == '[') {
    const auto end = x_text.find(']', x_at);
    if (end == std::string::npos) fail("`$[` is not closed");
    Part part;
    part.kind = Part::Kind::arithmetic;
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

void Parser::parse_name(Word& word, bool quoted) {
  const auto begin = x_at++;
  const auto from = x_at++;
  if (is_name_start(x_text[from]))
    while (is_name_char(at())) ++x_at;
  Part part;
  part.kind = Part::Kind::parameter;
  part.quoted = quoted;
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  part.parameter = std::make_unique<Parameter>();
  part.parameter->name = x_text.substr(from, x_at - from);
  word.parts.push_back(std::move(part));
}

void Parser::parse_braces(Word& word, bool quoted) {
  const auto begin = x_at;
  x_at += 2;
  auto parameter = std::make_unique<Parameter>();
  parse_parameter(*parameter);
  parse_operand(*parameter, quoted);
  if (at() != '}' || done()) {
    x_at = begin;
    fail("`${` is not closed");
  }
  ++x_at;
  Part part;
  part.kind = Part::Kind::parameter;
  part.quoted = quoted;
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  part.parameter = std::move(parameter);
  word.parts.push_back(std::move(part));
}

/// What stands after `${`, up to the operand.
void Parser::parse_parameter(Parameter& parameter) {
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

void Parser::parse_subscript(Parameter& parameter) {
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

void Parser::parse_operand(Parameter& parameter, bool quoted) {
  const auto begin = x_at;
  // Within double quotes a single quote is plain text, except in patterns; it hides a brace all the same.
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

void Parser::parse_substitution(Word& word, Part::Kind kind, bool quoted) {
  const auto begin = x_at - 1; // at '$', '<' or '>'
  ++x_at;
  Part part;
  part.kind = kind;
  part.quoted = quoted;
  part.body = std::make_unique<SyntaxNode>(parse_list(""));
  skip_blanks();
  if (at() != ')') {
    if (!done()) unexpected();
    x_at = begin;
    fail("`" + x_text.substr(begin, 2) + "` is not closed");
  }
  ++x_at;
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  word.parts.push_back(std::move(part));
}

/// Backquotes keep backslashes of their own; the text between them is read as a script.
void Parser::parse_backquotes(Word& word, bool quoted) {
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
  Part part;
  part.kind = Part::Kind::command;
  part.quoted = quoted;
  part.body = std::make_unique<SyntaxNode>(Parser(inner, x_depth, x_extglob).parse_program());
  part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  word.parts.push_back(std::move(part));
}

bool Parser::parse_arithmetic(Word& word, bool quoted) {
  const auto end = end_of_arithmetic(x_at + 3);
  if (!end) return false;
  Part part;
  part.kind = Part::Kind::arithmetic;
  part.quoted = quoted;
  part.text = x_text.substr(x_at, *end + 2 - x_at);
  part.place = x_source.place_of(x_at, *end + 2);
  word.parts.push_back(std::move(part));
  x_at = *end + 2;
  return true;
}

/// The offset of the `))` that ends an arithmetic text; nothing where it is a subshell in a subshell instead.
std::optional<std::size_t> Parser::end_of_arithmetic(std::size_t from) const {
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
