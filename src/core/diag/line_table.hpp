// SPDX-License-Identifier: MIT
// The lines of one text, found once: ranges become locations and locations ranges without reading it again.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/diag/excerpt.hpp"
#include "core/diag/text_range.hpp"

namespace hpcml::diag {

/// Where each line of a text begins; the text has to outlive it.
class LineTable {
public:
  explicit LineTable(std::string_view text);
  /// The place as lines and columns; of one after the end the end, of one without length no line.
  SourceLocation location_at(const std::string& file, TextRange place) const;
  /// The line that the byte is in, from 1; of one after the end the last.
  unsigned number_at(std::size_t offset) const;
  /// Where a line begins, counted from 1.
  std::size_t begin_of(unsigned number) const { return x_begins[number - 1]; }
  /// The bytes of what is known by lines and columns only: values in JSON.
  TextRange place_of(const SourceLocation& location) const;
  /// A line without its end, counted from 1; empty where there is none.
  std::string_view line(unsigned number) const;

private:
  std::string_view x_text;
  std::vector<std::size_t> x_begins;
};

/// The excerpt of `line`, the one that `location` is in.
Excerpt make_line_excerpt(std::string_view line, const SourceLocation& location);
/// render_text with the line of the location, where the whole text is not to be searched for it again.
std::string render_line_text(const Diagnostic& diagnostic, std::string_view line, bool colour);

} // namespace hpcml::diag
