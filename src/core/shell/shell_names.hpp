// SPDX-License-Identifier: MIT
// Which characters make a name in bash, and membership in short lists of names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "core/util/text.hpp"

namespace hpcml::shell {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
using util::is_name_char;
using util::is_name_start;
constexpr bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_char);
}

template <std::size_t N>
constexpr bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace hpcml::shell
