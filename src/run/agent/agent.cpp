// SPDX-License-Identifier: MIT
#include "run/agent/agent.hpp"

#include <csignal>
#include <initializer_list>

#include "run/agent/agent_loop.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/reach_srun.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/supervisor.hpp"
#include "run/store/client.hpp"

namespace hpcml::agent {

namespace {

/// Blocks the signals that are forwarded to the ranks, so that none is lost between two attempts.
sigset_t block_signals() {
  sigset_t mask, before;
  ::sigemptyset(&mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, launch::k_save_word_signal})
    ::sigaddset(&mask, signal);
  ::sigprocmask(SIG_BLOCK, &mask, &before);
  return before;
}

/// The signal that has come and asks this agent to end; 0: none.
int find_request_to_end() {
  sigset_t pending;
  ::sigpending(&pending);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
    if (::sigismember(&pending, signal) == 1) return signal;
  return 0;
}

/// From the plan of this node to the end of the run.
launch::LaunchOutcome run(const AgentRequest& request, const launch::RuntimeContext& context,
                          launch::ResolvedLaunch planned, const sigset_t& mask) {
  auto& world = planned.node->world;
  const auto fail = [&](const char* phase, const util::Error& error) {
    return launch::LaunchOutcome{
        launch::report_failure({k_cannot_set_up, phase, error, {}, context.host}, context.env), 0};
  };
  const auto run_id = run_id_of(request, world.identity);
  auto directory = RunDirectory::make(request, run_id, context);
  if (!directory) return fail("log", directory.error());
  auto rendezvous = join_agents(request, context, world, run_id, [] { return find_request_to_end() != 0; });
  if (const int signal = find_request_to_end(); !rendezvous && signal != 0) return {128 + signal, signal};
  if (!rendezvous) return fail("agents", rendezvous.error());
  world.channel = rendezvous->channel;
  AgentLoop loop(request, context, std::move(planned), std::move(*rendezvous), std::move(*directory), mask);
  const auto outcome = loop.run();
  const auto lost = store::parse_place(loop.lost_place());
  if (lost && outcome.signal == 0)
    launch::wait_until_srun_is_reached(context.env, lost->second, [] { return find_request_to_end() != 0; });
  return outcome;
}

} // namespace

int run_agent(const AgentRequest& request, const launch::RuntimeContext& context) {
  auto planned = launch::resolve_ranks(request.launch, context);
  if (const auto* failure = std::get_if<launch::LauncherFailure>(&planned))
    return launch::report_failure(*failure, context.env);
  const auto mask = block_signals();
  const auto outcome = run(request, context, std::get<launch::ResolvedLaunch>(std::move(planned)), mask);
  if (outcome.signal != 0) launch::end_step_by_signal(*context.system, outcome.signal, context.env);
  return outcome.code;
}

} // namespace hpcml::agent
