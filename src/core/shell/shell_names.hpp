// SPDX-License-Identifier: MIT
// Which characters make a name in bash, where a text has one, and membership in short lists of names.
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

/// Returns where the text has the name with no other character of a name next to it, at `from` or later; npos
/// if it does not.
constexpr std::size_t find_name(std::string_view text, std::string_view name, std::size_t from = 0) {
  for (auto at = text.find(name, from); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !is_name_char(text[at - 1])) && (end == text.size() || !is_name_char(text[end])))
      return at;
  }
  return std::string_view::npos;
}

template <std::size_t N>
constexpr bool is_one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

} // namespace hpcml::shell
