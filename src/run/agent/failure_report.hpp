// SPDX-License-Identifier: MIT
// The report of a run's first failure.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "run/agent/failure_note.hpp"

namespace hpcml::agent {

/// What the agents do about a failure.
struct RestartDecision {
  unsigned world_size = 1;       ///< of the ranks that were running
  unsigned restart = 0;          ///< number of the restart that follows, from 1; 0: none
  unsigned max_restarts = 0;     ///< --max-restarts
  std::chrono::seconds pause{0}; ///< before the restart
};

/// At most 60 lines of at most 400 characters, control characters shown and not sent: who failed and how, out
/// of memory or not, its message, its traceback, the last lines of its standard error that are not in that,
/// what to do, and what happens next.
std::vector<std::string> render_failure_report(const failures::RankFailure& note,
                                               const RestartDecision& decision);
/// Returns " after a pause of 4 s"; an empty text if there is none.
std::string describe_pause(std::chrono::seconds pause);
/// Returns "all ranks are restarted after a pause of 4 s (restart 1 of 3)".
std::string describe_restart(unsigned restart, unsigned max_restarts, std::chrono::seconds pause);
/// Returns its first line: "rank 9/16 (node002, local 1, GPU 1) was killed by SIGSEGV after 12.3 s".
/// `world_size` 0: unknown.
std::string render_failed_rank(const failures::RankFailure& note, unsigned world_size);

} // namespace hpcml::agent
