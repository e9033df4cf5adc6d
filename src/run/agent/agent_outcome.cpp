// SPDX-License-Identifier: MIT
#include "run/agent/agent_outcome.hpp"

#include "core/failures/rank_failure.hpp"
#include "hpcml/exit_code.hpp"
#include "run/agent/coordinator.hpp"

namespace hpcml::agent {

namespace {

/// The signal that some agent of the run received, by which the run ends; 0: none.
int signal_of_run(const EndCommand& end) { return end.code > 128 && !end.failure ? end.code - 128 : 0; }

/// Returns the class of what the run ended by; nothing if nothing failed.
std::optional<model::FailureClass> class_of_failure(const AgentFinalState& result,
                                                    const std::optional<EndCommand>& end) {
  if (end && end->failure) return failures::class_of(*end->failure);
  if (end && !end->lost.empty()) return model::FailureClass::node;
  return result.separate_worlds ? std::optional(model::FailureClass::program) : std::nullopt;
}

/// After a signal the code is the programs' own, as without an agent: those that have saved what they had and
/// ended with 0 have ended well.
launch::LaunchOutcome outcome_of_signal(const AgentFinalState& result, int signal) {
  if (result.all_succeeded) return {0, 0};
  if (result.save_requested && result.code != 0)
    return {result.code, result.code == 128 + signal ? signal : 0};
  return {128 + signal, signal == result.signal ? signal : 0};
}

} // namespace

launch::LaunchOutcome outcome_of_command(const AgentFinalState& result, const EndCommand& end) {
  if (const int signal = signal_of_run(end); signal != 0) return outcome_of_signal(result, signal);
  const bool ours = result.signal != 0 && end.code == 128 + result.signal;
  return {result.separate_worlds ? k_cannot_set_up : end.code, ours ? result.signal : 0};
}

launch::LaunchOutcome outcome_of_lost_connection(const AgentFinalState& result, bool ranks_ran) {
  if (result.signal != 0)
    return ranks_ran ? outcome_of_signal(result, result.signal) : outcome_of_silence(result);
  // The process that joins the agents is the first node's own; the others lack that node.
  return {result.is_leader ? k_cannot_set_up : k_nodes_missing, 0};
}

launch::LaunchOutcome outcome_of_silence(const AgentFinalState& result) {
  return {128 + result.signal, result.signal};
}

launch::RunResult run_result(const AgentFinalState& result, const launch::LaunchOutcome& outcome,
                             const std::optional<EndCommand>& end) {
  return {.code = outcome.code,
          .signal = result.signal != 0 || !end ? result.signal : signal_of_run(*end),
          .save_requested = result.save_requested,
          .failure = class_of_failure(result, end),
          .nodes_missing = outcome.code == k_nodes_missing};
}

} // namespace hpcml::agent
