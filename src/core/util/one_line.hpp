// SPDX-License-Identifier: MIT
// Texts that become a part of one line.
#pragma once

#include <algorithm>
#include <string_view>

namespace hpcml::util {

/// True if the text has no line break and no other control character: it fits on one line of a script.
inline bool is_one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

} // namespace hpcml::util
