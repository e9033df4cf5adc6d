// SPDX-License-Identifier: MIT
#include "check/text_places.hpp"

#include <algorithm>

#include "hpcml/json_string.hpp"

namespace hpcml::check {

TextPlaces::TextPlaces(std::string_view text) : x_text(text), x_lines{0} {
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    x_lines.push_back(at + 1);
}

EditorPlace TextPlaces::at(std::size_t offset) const {
  offset = std::min(offset, x_text.size());
  const auto line = std::upper_bound(x_lines.begin(), x_lines.end(), offset) - 1;
  unsigned column = 1;
  for (auto at = *line; at < offset;) {
    const auto length = utf8_length(x_text.substr(at));
    column += length == 4
                  ? 2
                  : 1; // beyond the basic plane: a surrogate pair; a byte that is no UTF-8 counts as one
    at += std::max<std::size_t>(length, 1);
  }
  return {static_cast<unsigned>(line - x_lines.begin()) + 1, column};
}

std::size_t TextPlaces::offset_of(const diag::Span& span) const {
  if (span.line == 0) return 0;
  const auto line = x_lines[std::min<std::size_t>(span.line, x_lines.size()) - 1];
  return std::min(line + (span.column > 0 ? span.column - 1 : 0), x_text.size());
}

} // namespace hpcml::check
