// SPDX-License-Identifier: MIT
// When the ranks of a node count as quiet: pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/util/late_timer.hpp"
#include "run/agent/agent_protocol.hpp"

namespace hpcml::agent {

class StallWatch {
public:
  using Time = std::chrono::steady_clock::time_point;
  /// Nothing counts as a sign of life before `start`.
  StallWatch(std::chrono::seconds limit, Time start)
      : x_limit(limit), x_last(start), x_due(start + often()) {}

  /// Something has come of a rank at `when`.
  void sign_of_life(Time when) { x_last = std::max(x_last, when); }
  /// Returns the event for the coordinator: the ranks became quiet, or busy again; nothing if unchanged.
  /// After a pause of this process, which the ranks may have shared, their time restarts.
  std::optional<QuietEvent> look(Time now) {
    if (util::is_late(x_due, now)) sign_of_life(now);
    x_due = now + often();
    const bool quiet = now - x_last >= x_limit;
    if (quiet == x_quiet) return std::nullopt;
    x_quiet = quiet;
    return QuietEvent{quiet};
  }
  /// When to look next at the latest: a sign of life may be found only then.
  Time due() const { return x_due; }

private:
  std::chrono::milliseconds often() const {
    using std::chrono::milliseconds;
    return std::clamp<milliseconds>(milliseconds(x_limit) / 20, milliseconds(50), milliseconds(1000));
  }

  std::chrono::seconds x_limit;
  Time x_last, x_due;
  bool x_quiet = false;
};

} // namespace hpcml::agent
