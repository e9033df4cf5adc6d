// SPDX-License-Identifier: MIT
#include "core/diag/line_table.hpp"

#include <algorithm>

namespace hpcml::diag {

LineTable::LineTable(std::string_view text) : x_text(text) {
  x_begins.reserve(text.size() / 24 + 1); // a guess: counting takes longer than growing once
  x_begins.push_back(0);
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    x_begins.push_back(at + 1);
}

unsigned LineTable::number_at(std::size_t offset) const {
  offset = std::min(offset, x_text.size());
  return static_cast<unsigned>(std::upper_bound(x_begins.begin(), x_begins.end(), offset) - x_begins.begin());
}

SourceLocation LineTable::location_at(const std::string& file, TextRange place) const {
  if (place.length == 0) return {file, 0, 0, 0};
  const auto offset = std::min(place.offset, x_text.size());
  const auto line = number_at(offset);
  return {file, line, static_cast<unsigned>(offset - begin_of(line)) + 1,
          static_cast<unsigned>(place.length)};
}

TextRange LineTable::place_of(const SourceLocation& location) const {
  if (location.line == 0) return {};
  const auto begin = x_begins[std::min<std::size_t>(location.line, x_begins.size()) - 1];
  return {std::min(begin + (location.column > 0 ? location.column - 1 : 0), x_text.size()), location.length};
}

std::string_view LineTable::line(unsigned number) const {
  if (number == 0 || number > x_begins.size()) return {};
  const auto begin = x_begins[number - 1];
  auto line =
      x_text.substr(begin, number < x_begins.size() ? x_begins[number] - 1 - begin : std::string_view::npos);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

} // namespace hpcml::diag
