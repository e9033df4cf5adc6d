// SPDX-License-Identifier: MIT
#include "check/typo.hpp"

#include <cstddef>
#include <utility>

namespace hpcml::check {

bool is_single_typo(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > 1) return false;
  std::size_t head = 0, tail = 0;
  while (head < a.size() && a[head] == b[head]) ++head;
  while (tail < a.size() - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  const auto left = b.size() - head - tail;
  if (left <= 1) return true;
  return a.size() == b.size() && left == 2 && a[head] == b[head + 1] && a[head + 1] == b[head];
}

} // namespace hpcml::check
