// SPDX-License-Identifier: MIT
#include "core/util/wrap_text.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::util {

std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::vector<std::string> wrap_text(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  for (const auto& word : split(text, ' ')) {
    if (word.empty()) continue;
    if (lines.empty() || text_width(lines.back()) + 1 + text_width(word) > columns)
      lines.push_back(word);
    else
      lines.back() += " " + word;
  }
  for (auto& line : lines) std::replace(line.begin(), line.end(), k_unbreakable_space, ' ');
  return lines;
}

} // namespace hpcml::util
