// SPDX-License-Identifier: MIT
#include "core/shell/parser.hpp"

#include <algorithm>
#include <array>

#include "core/util/char_set.hpp"

namespace hpcml::shell {

namespace {

constexpr int k_deepest = 100;
constexpr util::CharSet k_meta(" \t\n;&|()<>");
constexpr bool is_meta(char c) { return k_meta.has(c); }
constexpr bool is_quoting(char c) { return c == '\\' || c == '\'' || c == '"' || c == '$' || c == '`'; }

} // namespace

Parser::Level::Level(Parser& parser) : x_parser(parser) {
  if (++x_parser.x_depth > k_deepest) {
    --x_parser.x_depth;
    parser.fail("nested too deeply to be followed");
  }
}

void Parser::fail(std::string why) const { throw Failure{std::move(why), x_at}; }

void Parser::unexpected() const {
  if (done()) fail("the script ends where a command should go on");
  if (at() == '\n') fail("the line ends where a command should go on");
  const auto word = peek_word();
  fail("unexpected `" + (word.empty() ? std::string(1, at()) : std::string(word.substr(0, 40))) + "`");
}

void Parser::skip_blanks() {
  while (true) {
    if (at() == ' ' || at() == '\t')
      ++x_at;
    else if (at() == '\\' && at(1) == '\n')
      x_at += 2;
    else
      break;
  }
  if (at() == '#')
    while (!done() && at() != '\n') ++x_at;
}

void Parser::newline() {
  ++x_at;
  if (!x_pending.empty()) read_here_documents();
}

void Parser::skip_newlines() {
  skip_blanks();
  while (at() == '\n' && !done()) {
    newline();
    skip_blanks();
  }
}

std::string_view Parser::peek_word() const {
  auto end = x_at;
  while (end < x_text.size() && !is_meta(x_text[end])) ++end;
  return std::string_view(x_text).substr(x_at, end - x_at);
}

bool Parser::take_word(std::string_view word) {
  if (at() != word[0] || peek_word() != word) return false;
  x_at += word.size();
  return true;
}

void Parser::expect_word(std::string_view word, std::string_view of) {
  skip_blanks();
  if (take_word(word)) return;
  if (done()) fail("`" + std::string(of) + "` has no `" + std::string(word) + "`");
  unexpected();
}

bool Parser::at_word_end(Ends ends, int parens) const {
  const char c = at();
  if (!is_meta(c)) return false;
  if ((c == '<' || c == '>') && at(1) == '(' && ends == Ends::word) return false;
  if (ends != Ends::regex) return true;
  // A regular expression keeps its bars and brackets; blanks end it outside of brackets only.
  if (c == '(' || c == '|') return false;
  if (c == ')') return parens == 0;
  return parens == 0 || c == '\n';
}

Word Parser::parse_word(Ends ends) {
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
      parse_substitution(word, Part::Kind::process, false);
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
void Parser::parse_parens(Word& word) {
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

void Parser::add_literal(Word& word, std::size_t begin, std::size_t end, bool quoted) {
  auto from = begin;
  const auto piece = [&](std::size_t to) {
    if (to == from) return;
    Part part;
    part.quoted = quoted;
    part.place = x_source.place_of(from, to);
    part.text = x_text.substr(from, to - from);
    word.parts.push_back(std::move(part));
  };
  // A part lies in the file without gaps: one ends where a CR or a tab of the file is left out.
  for (auto i = begin; i < end && !x_source.places.empty(); ++i) {
    if (i > from && x_source.place_of(i) != x_source.place_of(i - 1) + 1) {
      piece(i);
      from = i;
    }
    const auto* hole = x_text[i] == k_hole ? x_source.hole_at(i) : nullptr;
    if (!hole) continue;
    piece(i);
    Part part;
    part.kind = Part::Kind::hole;
    part.quoted = quoted;
    part.place = x_source.place_of(i, i + 1);
    part.text = hole->reason;
    word.parts.push_back(std::move(part));
    from = i + 1;
  }
  piece(end);
}

void Parser::parse_escape(Word& word) {
  if (x_at + 1 >= x_text.size()) {
    add_literal(word, x_at, x_at + 1, true);
    ++x_at;
    return;
  }
  if (at(1) != '\n') add_literal(word, x_at + 1, x_at + 2, true);
  x_at += 2;
}

void Parser::parse_single(Word& word) {
  const auto end = x_text.find('\'', x_at + 1);
  if (end == std::string::npos) fail("a `'` is not closed");
  if (end == x_at + 1) {
    Part empty;
    empty.quoted = true;
    empty.place = x_source.place_of(end, end);
    word.parts.push_back(std::move(empty));
  }
  add_literal(word, x_at + 1, end, true);
  x_at = end + 1;
}

/// $'…': simple escapes are resolved; of the others the text counts as not known.
void Parser::parse_ansi(Word& word) {
  const auto begin = x_at;
  x_at += 2;
  Part part;
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
      if (x_source.hole_at(x_at)) part.kind = Part::Kind::hole;
      ++x_at;
      continue;
    }
    const auto* found =
        std::find_if(k_escapes.begin(), k_escapes.end(), [this](const auto& e) { return e.first == at(1); });
    if (found == k_escapes.end())
      part.kind = Part::Kind::hole;
    else
      part.text += found->second;
    x_at += 2;
  }
  if (done()) {
    x_at = begin;
    fail("a `$'` is not closed");
  }
  ++x_at;
  if (part.kind == Part::Kind::hole) part.text = x_text.substr(begin, x_at - begin);
  part.place = place_from(begin);
  word.parts.push_back(std::move(part));
}

void Parser::parse_double(Word& word) {
  const auto begin = x_at++;
  const auto count = word.parts.size();
  parse_quoted_text(word, '"');
  if (done()) {
    x_at = begin;
    fail("a `\"` is not closed");
  }
  ++x_at;
  if (word.parts.size() != count) return;
  Part empty;
  empty.quoted = true;
  empty.place = x_source.place_of(x_at - 1, x_at - 1);
  word.parts.push_back(std::move(empty));
}

/// Text in which only `$`, backquotes and some backslashes mean something, up to `end` ('\0': the end of the
/// text).
void Parser::parse_quoted_text(Word& word, char end) {
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

} // namespace hpcml::shell
