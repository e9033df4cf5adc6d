// SPDX-License-Identifier: MIT
// How long an agent has shown no heartbeat.
#pragma once

#include <algorithm>
#include <chrono>

#include "run/agent/heartbeat.hpp"

namespace hpcml::agent {

/// When an agent that shows no heartbeat is reported and killed. Pure.
class AgentWatchdogTimer {
public:
  using Time = HeartbeatTimer::Time;
  enum class Action { none, report, kill };

  AgentWatchdogTimer(const HeartbeatOptions& options, Time now)
      : x_options(options), x_last_received(now), x_turn(now + turn()) {}

  void on_heartbeat(Time now) { x_last_received = now, x_expects = true, x_reported = false; }
  /// Expects nothing until the next heartbeat.
  void pause() { x_expects = false; }
  /// What is to be done now. After a pause of this process, which the agent may have shared, its time begins
  /// again. The report comes shortly before the coordinator treats the agent as lost, its end shortly after.
  Action on_turn(Time now);
  /// How long to wait until the next turn: short, so that a pause of this process shows.
  std::chrono::milliseconds turn() const {
    return std::min<std::chrono::milliseconds>(std::chrono::seconds(1), x_options.interval);
  }
  Time::duration idle_time(Time now) const { return now - x_last_received; }

private:
  HeartbeatOptions x_options;
  Time x_last_received, x_turn;
  bool x_expects = true, x_reported = false;
};

} // namespace hpcml::agent
