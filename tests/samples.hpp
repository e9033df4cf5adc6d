// SPDX-License-Identifier: MIT
// How much of what is drawn by a seed, or combined of several lists, a run tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace hpcml::test {

#ifdef HPCML_SANITIZED // by CMake: the compilers say it in different words
constexpr bool k_sanitized = true;
#else
constexpr bool k_sanitized = false;
#endif

/// Whether all draws and combinations are tested: with HPCML_TEST_SAMPLES=all, as `.ci/full samples` sets it.
inline bool tests_all_samples() {
  const auto* samples = std::getenv("HPCML_TEST_SAMPLES");
  return samples != nullptr && std::string_view(samples) == "all";
}

/// The number of draws of `count` that are tested: a fifth, or a tenth under a sanitizer, which is there for
/// memory and takes ten times as long.
inline unsigned sampled(unsigned count) {
  if (tests_all_samples()) return count;
  return k_sanitized ? count / 10 : count / 5;
}

/// Whether the combination with this number is tested: about one in `step`, the same ones in each run, and
/// not in step with the lists that are combined.
inline bool is_sample(std::size_t number, std::size_t step = 4) {
  constexpr std::uint64_t k_golden_ratio = 0x9e3779b97f4a7c15; // Knuth's multiplicative hashing
  return tests_all_samples() || ((number * k_golden_ratio) >> 32) % step == 0;
}

} // namespace hpcml::test
