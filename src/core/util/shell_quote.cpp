// SPDX-License-Identifier: MIT
#include "core/util/shell_quote.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::util {

std::string shell_quote(std::string_view word) {
  constexpr std::string_view k_safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+^";
  if (!word.empty() && word.find_first_not_of(k_safe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_name_start(name.front()) && std::all_of(name.begin(), name.end(), is_name_char);
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + shell_quote(word);
  return line;
}

} // namespace hpcml::util
