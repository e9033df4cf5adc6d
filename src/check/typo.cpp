// SPDX-License-Identifier: MIT
#include "check/typo.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// The middles of both words, where they differ.
std::pair<std::string_view, std::string_view> difference(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty() && a.front() == b.front()) {
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  while (!a.empty() && !b.empty() && a.back() == b.back()) {
    a.remove_suffix(1);
    b.remove_suffix(1);
  }
  return {a, b};
}

bool is_swap(std::string_view a, std::string_view b) {
  return a.size() == 2 && b.size() == 2 && a[0] == b[1] && a[1] == b[0];
}

/// True if the name may be meant by the word: as in nearest_typo().
bool is_near_name(const std::string& word, const std::string& name) {
  if (util::to_lower(word) == util::to_lower(name)) return true;
  if (std::min(word.size(), name.size()) < 4) return false;
  const auto [a, b] = difference(word, name);
  if (!std::all_of(a.begin(), a.end(), is_letter) || !std::all_of(b.begin(), b.end(), is_letter))
    return false;
  return a.size() + b.size() == 1 || is_swap(a, b);
}

} // namespace

bool is_single_typo(std::string_view a, std::string_view b) {
  const auto [left, right] = difference(a, b);
  return (left.size() <= 1 && right.size() <= 1) || is_swap(left, right);
}

std::optional<std::string> nearest_typo(const std::string& word, const std::vector<std::string>& names) {
  std::optional<std::string> found;
  for (const auto& name : names)
    if (is_near_name(word, name)) {
      if (found) return std::nullopt;
      found = name;
    }
  return found;
}

} // namespace hpcml::check
