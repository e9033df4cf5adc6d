// SPDX-License-Identifier: MIT
// A text with parts cut out: whole lines if they contain nothing else, with the comments that describe only
// them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::import_script {

/// From the first byte to the place after the last one.
struct ByteRange {
  std::size_t begin = 0, end = 0;
};

/// True if the line that begins there continues the one before: `a && \`, `a |`.
bool continues_line(std::string_view text, std::size_t line);

/// What goes and what stays of a script.
class TextCuts {
public:
  explicit TextCuts(std::string_view text) : x_text(text) {}

  /// Takes out exactly this.
  void cut(ByteRange range) { x_cuts.push_back(range); }
  /// Puts a text in its place.
  void replace(ByteRange range, std::string text);
  void insert(std::size_t at, std::string text) { replace({at, at}, std::move(text)); }
  /// Removes a statement, with the rest of its lines if that is only spaces or a comment. If && or || joins
  /// it to another one, `true` replaces it.
  void cut_lines(ByteRange statement);
  /// True if the text at this place is cut.
  bool holds(std::size_t at) const;
  /// Cuts the comments above statements that were cut, and one of two blank lines that would then follow each
  /// other; returns the comments. Comments that the next statement may need are kept. `code` are the
  /// commands, in which a
  /// '#' does not begin a comment.
  std::vector<ByteRange> cut_orphans(const std::vector<ByteRange>& code);
  /// What is left between two places.
  std::string rest(std::size_t begin, std::size_t end);

  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;
  /// Whether a comment fills the line up to this place.
  bool in_comment(std::size_t at) const;

private:
  bool is_tied(ByteRange statement) const;
  enum class Line : unsigned char { blank, comment, code, lost, header };
  struct Lines {
    std::vector<ByteRange> ranges;
    std::vector<Line> kinds;
  };
  Lines read_lines(const std::vector<ByteRange>& code) const;
  Line kind_of(ByteRange line, const std::vector<ByteRange>& code) const;
  bool is_banner(ByteRange line) const;
  bool stays_anyhow(ByteRange line) const;

  std::string_view x_text;
  std::vector<ByteRange> x_cuts;
  std::map<std::size_t, std::string> x_instead; ///< of the cuts that begin there
  std::vector<ByteRange> x_statements;          ///< whole lines among the cuts
};

} // namespace hpcml::import_script
