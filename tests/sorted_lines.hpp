// SPDX-License-Identifier: MIT
// What several processes print in any order.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/util/text.hpp"

namespace hpcml::test {

/// The lines in alphabetical order.
inline std::vector<std::string> sorted_lines(const std::string& text) {
  auto lines = util::split(text, '\n');
  if (lines.back().empty()) lines.pop_back(); // behind the last line's end
  std::sort(lines.begin(), lines.end());
  return lines;
}

} // namespace hpcml::test
