// SPDX-License-Identifier: MIT
// Whether and when all ranks of a run start again. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "run/agent/restart_backoff.hpp"

namespace hpcml::agent {

/// Whether the ranks start again after a stop.
enum class Restart { no, at_once, after_pause };

class RestartBudget {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit RestartBudget(unsigned max_restarts) : x_max(max_restarts) {}

  /// Ranks have failed: counts the restart that this costs, if one is left.
  Restart count_failure() {
    if (x_used >= x_max) return Restart::no;
    ++x_used;
    return Restart::after_pause;
  }
  /// The ranks are stopped, and all start again or none.
  void plan(Restart restart, Time now) {
    x_is_pending = restart != Restart::no;
    x_pause = restart == Restart::after_pause ? x_backoff.next(now - x_begun) : std::chrono::seconds(0);
  }
  void cancel() { x_is_pending = false; }
  /// All ranks have ended: the pause begins.
  void begin_pause(Time now) { x_pause_until = now + x_pause; }
  bool is_pausing(Time now) const { return now < x_pause_until; }
  void begin_attempt(Time now) { x_begun = now; }

  /// True if all start again after this stop.
  bool is_pending() const { return x_is_pending; }
  std::chrono::seconds pause() const { return x_pause; }
  /// The number of restarts that count.
  unsigned used() const { return x_used; }

private:
  unsigned x_max, x_used = 0;
  RestartBackoff x_backoff;
  Time x_begun{}; ///< when the attempt began
  bool x_is_pending = false;
  std::chrono::seconds x_pause{0}; ///< between the end of the ranks and their restart
  Time x_pause_until = Time::min();
};

} // namespace hpcml::agent
