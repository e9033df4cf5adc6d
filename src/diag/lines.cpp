// SPDX-License-Identifier: MIT
#include "diag/lines.hpp"

#include <algorithm>

namespace hpcml::diag {

Lines::Lines(std::string_view text) : x_text(text) {
  x_begins.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  x_begins.push_back(0);
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    x_begins.push_back(at + 1);
}

Span Lines::span_at(const std::string& file, std::size_t offset, unsigned length) const {
  offset = std::min(offset, x_text.size());
  const auto line = std::upper_bound(x_begins.begin(), x_begins.end(), offset) - 1;
  return {file, static_cast<unsigned>(line - x_begins.begin()) + 1, static_cast<unsigned>(offset - *line) + 1,
          length};
}

std::size_t Lines::offset_of(const Span& span) const {
  if (span.line == 0) return 0;
  const auto begin = x_begins[std::min<std::size_t>(span.line, x_begins.size()) - 1];
  return std::min(begin + (span.column > 0 ? span.column - 1 : 0), x_text.size());
}

std::string_view Lines::line(unsigned number) const {
  if (number == 0 || number > x_begins.size()) return {};
  const auto begin = x_begins[number - 1];
  auto line =
      x_text.substr(begin, number < x_begins.size() ? x_begins[number] - 1 - begin : std::string_view::npos);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

} // namespace hpcml::diag
