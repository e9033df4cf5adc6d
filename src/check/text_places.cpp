// SPDX-License-Identifier: MIT
#include "check/text_places.hpp"

#include <algorithm>

#include "hpcml/json_string.hpp"

namespace hpcml::check {

TextPlaces::TextPlaces(std::string_view text) : x_text(text), x_lines(text) {}

EditorPlace TextPlaces::at(std::size_t offset) const {
  offset = std::min(offset, x_text.size());
  const auto line = x_lines.number_at(offset);
  unsigned column = 1;
  for (auto at = x_lines.begin_of(line); at < offset;) {
    const auto length = utf8_length(x_text.substr(at));
    column += length == 4
                  ? 2
                  : 1; // beyond the basic plane: a surrogate pair; a byte that is not an UTF-8 counts as one
    at += std::max<std::size_t>(length, 1);
  }
  return {line, column};
}

} // namespace hpcml::check
