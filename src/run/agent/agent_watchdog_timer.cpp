// SPDX-License-Identifier: MIT
#include "run/agent/agent_watchdog_timer.hpp"

#include "core/util/late_timer.hpp"

namespace hpcml::agent {

AgentWatchdogTimer::Action AgentWatchdogTimer::on_turn(Time now) {
  if (util::is_late(x_turn, now, x_options.late_limit())) x_last_received = now;
  x_turn = now + turn();
  if (!x_expects) return Action::none;
  const auto margin = std::chrono::milliseconds(x_options.interval) / 2;
  if (now - x_last_received >= x_options.timeout + margin) return Action::kill;
  if (x_reported || now - x_last_received < x_options.timeout - margin) return Action::none;
  x_reported = true;
  return Action::report;
}

} // namespace hpcml::agent
