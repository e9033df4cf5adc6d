// SPDX-License-Identifier: MIT
// How the run ends for an agent: its exit code, the signal to end by, and the facts for the class of its
// failure. Pure.
#pragma once

#include <optional>

#include "run/agent/agent_protocol.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/stop_policy.hpp"

namespace hpcml::agent {

/// What an agent knows of itself and of the ranks that it ran last.
struct AgentFinalState {
  bool is_leader = false;       ///< it started the process that joins the agents
  int signal = 0;               ///< that asked this agent to end; 0: none
  bool save_requested = false;  ///< the ranks were asked to save, which is what `signal` is for
  int code = 0;                 ///< of the ranks
  bool all_succeeded = false;   ///< all of them were started and exited with 0
  bool separate_worlds = false; ///< they did not train together
};

/// Returns the outcome after the coordinator has ended the run.
launch::LaunchOutcome outcome_of_command(const AgentFinalState& result, const EndCommand& end);

/// Returns the outcome after the connection to the coordinator was lost: between two attempts, or while ranks
/// ran.
launch::LaunchOutcome outcome_of_lost_connection(const AgentFinalState& result, bool ranks_ran);

/// Returns the outcome if the coordinator does not end the run in time after a signal.
launch::LaunchOutcome outcome_of_silence(const AgentFinalState& result);

/// Returns the facts for the class of this outcome. `end`: null if the coordinator has not ended the run.
launch::RunResult run_result(const AgentFinalState& result, const launch::LaunchOutcome& outcome,
                             const std::optional<EndCommand>& end);

} // namespace hpcml::agent
