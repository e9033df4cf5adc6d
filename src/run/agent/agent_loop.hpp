// SPDX-License-Identifier: MIT
// What an agent does from its first command to its last.
#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/agent/agent_outcome.hpp"
#include "run/agent/agent_rendezvous.hpp"
#include "run/agent/agent_request.hpp"
#include "run/agent/run_directory.hpp"
#include "run/agent/run_reporter.hpp"
#include "run/agent/worker_group.hpp"
#include "run/launch/launch.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/separate_worlds_evidence.hpp"
#include "run/launch/signal_reader.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::agent {

class AgentLoop {
public:
  /// `planned`: this node and its world at the start of this process; `mask`: of signals, for
  /// the ranks.
  AgentLoop(const AgentRequest& request, const launch::RuntimeContext& context,
            launch::ResolvedLaunch planned, AgentRendezvous rendezvous, RunDirectory directory,
            const sigset_t& mask);
  ~AgentLoop();
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

  /// Performs commands until the last one.
  launch::LaunchOutcome run();

  /// Returns the rendezvous endpoint of the agents, "ADDRESS:PORT", after this one lost its connection;
  /// else empty.
  std::string lost_place() const;

private:
  using Clock = std::chrono::steady_clock;

  /// The attempt that was prepared last, and what this agent keeps for its ranks.
  struct CurrentAttempt {
    std::optional<Attempt> plan; ///< nothing before the first
    std::vector<launch::CacheDir> caches;
    store::SharedStoreActivity activity;
    pid_t store = -1; ///< serves the ranks
    bool failure_reported = false;
    std::optional<launch::SeparateWorldsEvidence> evidence; ///< of the ranks' world
  };
  /// How the run ends for this agent.
  struct RunEnd {
    AgentFinalState result;
    std::optional<EndCommand> command;            ///< by which the coordinator has ended it
    std::optional<launch::LaunchOutcome> outcome; ///< the loop ends
    Clock::time_point signalled_at{};             ///< when `result.signal` came
  };

  /// The ranks while they run.
  struct RunningRanks {
    WorkerGroup& workers;
    launch::Supervisor& supervisor;
  };

  void wait_for_command();
  int wait_milliseconds() const;
  /// Performs a command: all that it may mean, while ranks run and between two attempts (`ranks` is null).
  void handle_command(const AgentCommand& command, const RunningRanks* ranks);
  bool prepare(const AttemptSetup& setup);
  launch::TorchelasticFacts facts_for_ranks(const AttemptSetup& setup) const;
  void serve(const ServeCommand& command);
  void start(const StartCommand& command);
  launch::LaunchOutcome run_ranks(WorkerGroup& workers);
  void report_stop(const StopReport& report, const RunningRanks* ranks);
  void end(const EndCommand& command);
  std::optional<model::FailureClass> report_class() const;
  void fail(const launch::LauncherFailure& failure);
  template <class Event> void send_event(Event event) {
    x_rendezvous.link->send_event({plan() ? plan()->number : 0, std::move(event)});
  }
  void take_signals();
  void end_store(pid_t& store);
  const Attempt* plan() const { return x_attempt.plan ? &*x_attempt.plan : nullptr; }
  const store::SharedStoreActivity* activity() const {
    return x_attempt.store > 0 ? &x_attempt.activity : nullptr;
  }

  AgentRequest x_request;
  const launch::RuntimeContext& x_context;
  launch::World x_own;
  std::optional<launch::ResolvedLaunch> x_planned; ///< for the first attempt: GPUs may fail before the next
  AgentRendezvous x_rendezvous;
  RunDirectory x_directory;
  sigset_t x_mask;
  std::unique_ptr<AgentLivenessWatchdog> x_watchdog; ///< if there are several nodes
  launch::SignalReader x_signals;                    ///< that ask this agent to end, while no rank runs
  RunReporter x_reporter;
  CurrentAttempt x_attempt;
  RunEnd x_end;
};

} // namespace hpcml::agent
