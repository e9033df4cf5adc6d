// SPDX-License-Identifier: MIT
// Late timers: how a process finds that it did not run for a while (SIGSTOP, a suspended job, gang
// preemption, a suspended machine) and must not count that time against others.
#pragma once

#include <chrono>
#include <ctime>

namespace hpcml::util {

/// A timer that fires later than this is the sign of a pause, not of load.
constexpr std::chrono::seconds k_late_timer{5};

/// True if a process that meant to run at `due` was paused until `now`. Pure.
inline bool is_late(std::chrono::steady_clock::time_point due, std::chrono::steady_clock::time_point now,
                    std::chrono::nanoseconds limit = k_late_timer) {
  return now - due > limit;
}

/// CLOCK_MONOTONIC with the time that the machine was suspended, so that a suspended machine also shows as
/// a late timer.
inline std::chrono::steady_clock::time_point now_with_suspend() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(
          std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec)));
}

} // namespace hpcml::util
