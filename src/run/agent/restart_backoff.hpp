// SPDX-License-Identifier: MIT
// Pauses between restarts of ranks that fail again soon after their start. Pure: no clock.
#pragma once

#include <algorithm>
#include <chrono>

namespace hpcml::agent {

/// Chooses the pause before each restart of a run: the first restart is immediate, and each further run that
/// is short doubles the pause.
class RestartBackoff {
public:
  static constexpr std::chrono::seconds k_first_pause{1};
  static constexpr std::chrono::seconds k_longest_pause{30};
  /// Ranks that ran for this long did not fail at once: the next restart is immediate again.
  static constexpr std::chrono::seconds k_long_run{60};

  /// Returns the pause before the next restart of ranks that ran for `duration`: 0 to 30 s.
  std::chrono::seconds next(std::chrono::steady_clock::duration duration) {
    if (duration >= k_long_run) x_next = std::chrono::seconds(0);
    const auto pause = x_next;
    x_next = std::clamp(2 * pause, k_first_pause, k_longest_pause);
    return pause;
  }

private:
  std::chrono::seconds x_next{0};
};

} // namespace hpcml::agent
