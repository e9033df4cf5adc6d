// SPDX-License-Identifier: MIT
// A text with parts cut out: whole lines where nothing else stands on them, with the comments that spoke of
// them only.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::import_script {

/// From the first byte to behind the last one.
struct Range {
  std::size_t begin = 0, end = 0;
};

/// What goes and what stays of a script.
class TextCuts {
public:
  explicit TextCuts(std::string_view text) : x_text(text) {}

  /// Takes out exactly this.
  void cut(Range range) { x_cuts.push_back(range); }
  /// Puts a text in its place.
  void replace(Range range, std::string text);
  /// Takes out a statement, with the rest of its lines where nothing but blanks or a comment stands there.
  /// Where && or || ties it to another one, `true` takes its place.
  void cut_lines(Range statement);
  /// Whether what stands at this place is cut.
  bool holds(std::size_t at) const;
  /// Cuts the comments above statements that are gone, and the blank lines that would stand twice; returns
  /// the comments. What follows directly may still need them: then they stay. `code` are the commands, in
  /// which a
  /// '#' is no comment.
  std::vector<Range> cut_orphans(const std::vector<Range>& code);
  /// What is left between two places.
  std::string rest(std::size_t begin, std::size_t end);

  std::size_t line_begin(std::size_t at) const;
  std::size_t line_end(std::size_t at) const;
  /// Whether a comment fills the line up to this place.
  bool in_comment(std::size_t at) const;

private:
  bool is_tied(Range statement) const;
  enum class Line : unsigned char { blank, comment, code, lost, header };
  struct Lines {
    std::vector<Range> ranges;
    std::vector<Line> kinds;
  };
  Lines read_lines(const std::vector<Range>& code) const;
  Line kind_of(Range line, const std::vector<Range>& code) const;
  bool is_banner(Range line) const;
  bool stays_anyhow(Range line) const;

  std::string_view x_text;
  std::vector<Range> x_cuts;
  std::map<std::size_t, std::string> x_instead; ///< of the cuts that begin there
  std::vector<Range> x_statements;              ///< whole lines among the cuts
};

} // namespace hpcml::import_script
