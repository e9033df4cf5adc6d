// SPDX-License-Identifier: MIT
#include "core/shell/script_cursor.hpp"

#include <fmt/format.h>

#include "core/shell/word_chars.hpp"

namespace hpcml::shell {

namespace {

constexpr int k_deepest = 100;

} // namespace

ScriptCursor::Level::Level(ScriptCursor& cursor) : x_cursor(cursor) {
  if (++x_cursor.x_depth > k_deepest) {
    --x_cursor.x_depth;
    cursor.fail("nested too deeply to be followed");
  }
}

void ScriptCursor::fail(std::string why) const { throw Failure{std::move(why), x_at}; }

void ScriptCursor::unexpected() const {
  if (done()) fail("the script ends in the middle of a command");
  if (at() == '\n') fail("the line ends in the middle of a command");
  const auto word = peek_word();
  fail("unexpected `" + (word.empty() ? std::string(1, at()) : std::string(word.substr(0, 40))) + "`");
}

void ScriptCursor::skip_blanks() {
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

void ScriptCursor::newline() {
  ++x_at;
  on_line_start();
}

void ScriptCursor::skip_newlines() {
  skip_blanks();
  while (at() == '\n' && !done()) {
    newline();
    skip_blanks();
  }
}

std::string_view ScriptCursor::peek_word() const {
  auto end = x_at;
  while (end < x_text.size() && !is_meta(x_text[end])) ++end;
  return std::string_view(x_text).substr(x_at, end - x_at);
}

bool ScriptCursor::take_word(std::string_view word) {
  if (at() != word[0] || peek_word() != word) return false;
  x_at += word.size();
  return true;
}

void ScriptCursor::expect_word(std::string_view word, std::string_view of) {
  skip_blanks();
  if (take_word(word)) return;
  if (done()) fail(fmt::format("`{}` has no `{}`", of, word));
  unexpected();
}

} // namespace hpcml::shell
