// SPDX-License-Identifier: MIT
// Which characters make a name in bash, and membership in short lists of names.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace hpcml::shell {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_name_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
constexpr bool is_name_char(char c) { return is_name_start(c) || is_digit(c); }
constexpr bool is_name(std::string_view text) {
  return !text.empty() && is_name_start(text[0]) && std::all_of(text.begin(), text.end(), is_name_char);
}

template <std::size_t N>
constexpr bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace hpcml::shell
