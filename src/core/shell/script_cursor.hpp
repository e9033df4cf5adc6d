// SPDX-License-Identifier: MIT
// A position in a script's text: what its readers share, and how they fail.
#pragma once

#include <string>
#include <string_view>

#include "core/shell/source.hpp"
#include "core/shell/syntax.hpp"

namespace hpcml::shell {

/// Reads characters, white space, comments and plain words.
class ScriptCursor {
public:
  ScriptCursor(const ScriptCursor&) = delete;
  ScriptCursor& operator=(const ScriptCursor&) = delete;

protected:
  /// Why the text cannot be read from some place on. Thrown, and caught where a reader can continue.
  struct Failure {
    std::string why;
    std::size_t at;
  };
  /// Counts levels so that hostile nesting ends in a message.
  class Level {
  public:
    explicit Level(ScriptCursor& cursor);
    ~Level() { --x_cursor.x_depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

  private:
    ScriptCursor& x_cursor;
  };

  ScriptCursor(const SourceText& source, int depth, bool extglob)
      : x_source(source), x_text(source.text), x_depth(depth), x_extglob(extglob) {}
  virtual ~ScriptCursor() = default;

  char at(std::size_t ahead = 0) const { return x_at + ahead < x_text.size() ? x_text[x_at + ahead] : '\0'; }
  bool done() const { return x_at >= x_text.size(); }
  bool sees(std::string_view text) const { return x_text.compare(x_at, text.size(), text) == 0; }
  [[noreturn]] void fail(std::string why) const;
  [[noreturn]] void unexpected() const;
  void skip_blanks();
  void skip_newlines();
  void newline();
  std::string_view peek_word() const;
  bool take_word(std::string_view word);
  void expect_word(std::string_view word, std::string_view of);
  TextRange place_from(std::size_t begin) const { return x_source.place_of(begin, x_at); }

  const SourceText& x_source;
  const std::string& x_text;
  std::size_t x_at = 0;
  int x_depth;
  bool x_extglob;

private:
  /// Called after each line feed: here-documents begin there.
  virtual void on_line_start() {}
};

} // namespace hpcml::shell
