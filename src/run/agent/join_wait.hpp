// SPDX-License-Identifier: MIT
// How long a run waits for its nodes before an attempt. Pure.
#pragma once

#include <chrono>
#include <optional>

#include "run/agent/node_membership.hpp"

namespace hpcml::agent {

class JoinWait {
public:
  using Time = std::chrono::steady_clock::time_point;
  using seconds = std::chrono::seconds;

  /// `join_timeout`: for the least number of nodes; `extra_timeout`: for more, after these have joined.
  JoinWait(seconds join_timeout, seconds extra_timeout, Time now)
      : x_join_timeout(join_timeout), x_extra_timeout(extra_timeout), x_since(now) {}

  void begin(Time now) {
    x_since = now;
    x_enough_since.reset();
    x_next_report = k_first_report;
  }
  /// After a pause of this process nodes have their whole time again.
  void restart_timeouts(Time now) {
    x_since = now;
    if (x_enough_since) x_enough_since = now;
  }
  /// True if the attempt can begin. `waits_for_more`: it has time for more nodes than the least number.
  bool may_begin(const NodeMembership& nodes, bool waits_for_more, Time now) {
    if (!nodes.has_enough()) x_enough_since.reset();
    if (!nodes.has_enough()) return false;
    if (!x_enough_since) x_enough_since = now;
    return nodes.has_all() || !waits_for_more || now - *x_enough_since >= x_extra_timeout;
  }
  bool is_over(Time now) const { return waited(now) >= x_join_timeout; }
  seconds join_timeout() const { return x_join_timeout; }
  /// Returns the time waited when that is to be reported: after 20 s, then each time three times as long.
  std::optional<seconds> report_due(Time now) {
    if (waited(now) < x_next_report) return std::nullopt;
    x_next_report *= 3;
    return waited(now);
  }

private:
  static constexpr seconds k_first_report{20};
  seconds waited(Time now) const { return std::chrono::duration_cast<seconds>(now - x_since); }

  seconds x_join_timeout, x_extra_timeout;
  Time x_since;
  std::optional<Time> x_enough_since; ///< when the least number of nodes had joined
  seconds x_next_report = k_first_report;
};

} // namespace hpcml::agent
