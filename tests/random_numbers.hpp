// SPDX-License-Identifier: MIT
// Random choices that are the same with every standard library, whose distributions differ.
#pragma once

#include <random>

namespace hpcml::test {

/// One of the numbers from `low` to `high`.
inline unsigned pick(std::mt19937& random, unsigned low, unsigned high) {
  return low + static_cast<unsigned>(random() % (high - low + 1));
}
/// True in so many of a hundred cases.
inline bool chance(std::mt19937& random, unsigned percent) { return random() % 100 < percent; }

} // namespace hpcml::test
