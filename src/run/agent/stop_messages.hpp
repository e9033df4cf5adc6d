// SPDX-License-Identifier: MIT
// Messages about why all ranks are stopped, and what happens next. Pure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/util/log.hpp"
#include "run/agent/agent_protocol.hpp"

namespace hpcml::agent {

/// What the agents do about a failure.
struct RestartDecision {
  unsigned world_size = 1;       ///< of the ranks that were running
  unsigned restart = 0;          ///< number of the restart that follows, from 1; 0: none
  unsigned max_restarts = 0;     ///< --max-restarts
  std::chrono::seconds pause{0}; ///< before the restart
};

/// Returns the report of a run's first failure, and what happens next: at most 60 lines.
std::vector<std::string> render_failure_report(const failures::RankFailure& note,
                                               const RestartDecision& after);

/// Returns the lines of the message when all ranks are stopped or the run failed. `world_size`: number of
/// ranks that were running.
std::vector<std::string> render_stop(const StopReport& report, unsigned max_restarts, unsigned world_size);

/// Returns the level of that message: info if nothing failed, as after a signal.
util::LogLevel level_of_stop(const StopReport& report);

/// Returns the stack traces of stalled ranks, for a file; empty if none were read.
std::string render_stalled(const StopReport& report);

} // namespace hpcml::agent
