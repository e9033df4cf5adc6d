// SPDX-License-Identifier: MIT
// Heartbeats between agents and the coordinator: pure, time is an argument. An agent sends one each interval
// and the coordinator answers it, so that each of them notices if the other one stops working: stopped by a
// signal, blocked, on a node that hangs. A closed connection shows none of these.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include "core/util/late_timer.hpp"

namespace hpcml::agent {

/// "31 s", rounded.
inline std::string whole_seconds(std::chrono::steady_clock::duration time) {
  return std::to_string(std::chrono::round<std::chrono::seconds>(time).count()) + " s";
}

struct HeartbeatOptions {
  std::chrono::seconds interval{5};
  std::chrono::seconds timeout{30}; ///< without a heartbeat; 0: silence is never a loss

  bool is_on() const { return timeout.count() > 0; }
  /// A timer that fires later than this is the sign of a pause: less than usual if the timeout is short.
  std::chrono::milliseconds late_limit() const {
    using std::chrono::milliseconds;
    if (!is_on()) return util::k_late_timer;
    return std::clamp<milliseconds>(milliseconds(timeout) / 6, milliseconds(1000), util::k_late_timer);
  }
};

/// An agent's side: when it sends its next heartbeat, and whether the coordinator still answers.
class HeartbeatTimer {
public:
  using Time = std::chrono::steady_clock::time_point;

  HeartbeatTimer(const HeartbeatOptions& options, Time now)
      : x_options(options), x_due(now), x_sent(now), x_answered(now) {}

  /// When `is_due` is to be asked next, and while the coordinator may still answer `is_overdue`.
  Time due(bool may_answer = true) const {
    return x_options.is_on() && may_answer ? std::min(x_due, x_answered + x_options.timeout) : x_due;
  }
  /// True if a heartbeat is to be sent now; the next one is due an interval later. After a pause of this
  /// process the coordinator has its whole timeout again.
  bool is_due(Time now) {
    if (now < x_due) return false;
    if (util::is_late(x_due, now, x_options.late_limit())) {
      x_longest_pause = std::max(x_longest_pause, now - x_sent);
      x_answered = now;
    }
    x_due = now + x_options.interval;
    x_sent = now;
    return true;
  }
  /// The coordinator has sent something.
  void on_answer(Time now) { x_answered = now; }
  /// True if the coordinator has not answered for the timeout.
  bool is_overdue(Time now) const { return x_options.is_on() && now - x_answered >= x_options.timeout; }
  /// True if this process was once paused longer than the coordinator waits for a heartbeat.
  bool was_away() const { return x_options.is_on() && x_longest_pause >= x_options.timeout; }
  const HeartbeatOptions& options() const { return x_options; }

private:
  HeartbeatOptions x_options;
  Time x_due, x_sent, x_answered;
  Time::duration x_longest_pause{};
};

} // namespace hpcml::agent
