// SPDX-License-Identifier: MIT
#include "util/shell_quote.hpp"

namespace hpcml::util {

std::string shell_quote(std::string_view word) {
  constexpr std::string_view k_safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,@%+^";
  if (!word.empty() && word.find_first_not_of(k_safe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += "'\\''";
    else quoted += c;
  }
  return quoted + "'";
}

} // namespace hpcml::util
