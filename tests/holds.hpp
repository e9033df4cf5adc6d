// SPDX-License-Identifier: MIT
// Whether a text has another in it.
#pragma once

#include <string>
#include <string_view>

namespace hpcml::test {

inline bool holds(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace hpcml::test
