// SPDX-License-Identifier: MIT
// A script's text after edits, and the lines that its bytes came from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/diag/line_table.hpp"

namespace hpcml::import_script {

/// Returns the place after the range's last byte.
constexpr std::size_t end_of(diag::TextRange range) { return range.offset + range.length; }

/// A text in place of a part of another.
struct TextEdit {
  std::size_t begin = 0, end = 0;
  std::string text;
};

/// A text that is edited in rounds. Places of the newest text are also known in the first one.
class EditedText {
public:
  explicit EditedText(std::string_view original) : x_lines(original), x_text(original) {}

  /// Makes edits whose places are those of the newest text, and do not overlap.
  void apply(std::vector<TextEdit> edits);
  const std::string& text() const { return x_text; }

  /// Returns a place as line and column of the first text.
  diag::SourceLocation location_at(const std::string& file, diag::TextRange place) const;
  /// Returns the line of the first text, from 1, that the byte comes from.
  unsigned number_at(std::size_t offset) const { return x_lines.number_at(original_place(offset)); }
  /// Returns a line of the first text without its end, counted from 1.
  std::string_view line(unsigned number) const { return x_lines.line(number); }

private:
  std::size_t original_place(std::size_t offset) const;

  diag::LineTable x_lines;
  std::string x_text;
  std::vector<std::vector<TextEdit>> x_rounds; ///< each in order
};

} // namespace hpcml::import_script
