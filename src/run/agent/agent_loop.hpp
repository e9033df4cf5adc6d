// SPDX-License-Identifier: MIT
// What an agent does from its first order to its last.
#pragma once

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "run/agent/agent_rendezvous.hpp"
#include "run/agent/agent_request.hpp"
#include "run/agent/run_directory.hpp"
#include "run/agent/run_record.hpp"
#include "run/agent/worker_group.hpp"
#include "run/launch/launch.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/supervisor.hpp"
#include "run/launch/world_evidence.hpp"
#include "run/store/store_activity.hpp"

namespace hpcml::agent {

class AgentLoop {
public:
  /// `planned`: this node and its world at the start of this process; `mask`: of signals, for
  /// the ranks.
  AgentLoop(const AgentRequest& request, const launch::RuntimeContext& context,
            launch::ResolvedLaunch planned, AgentRendezvous rendezvous, RunDirectory directory,
            std::string run_id, const sigset_t& mask);
  ~AgentLoop();
  AgentLoop(const AgentLoop&) = delete;
  AgentLoop& operator=(const AgentLoop&) = delete;

  /// Obeys orders until the last one.
  launch::Outcome run();

  /// Returns the rendezvous endpoint of the agents, "ADDRESS:PORT", after this one lost its connection;
  /// else empty.
  std::string lost_place() const;

private:
  using Clock = std::chrono::steady_clock;

  void wait_for_order();
  int wait_milliseconds() const;
  void handle_command(const AgentCommand& order);
  bool prepare(const AgentCommand& order);
  void serve(const AgentCommand& order);
  void start(const AgentCommand& order);
  void end(const AgentCommand& order);
  std::optional<model::FailureClass> class_of_failure(const AgentCommand& order) const;
  launch::Outcome outcome_of_signal(int signal) const;
  int code_of_lost_line() const;
  std::optional<model::FailureClass> report_class() const;
  void note_bad_node(const std::string& node, const std::string& why);
  void note_lost(const AgentCommand& order);
  void fail(const launch::LauncherFailure& failure);
  void open_record(const AgentCommand& order);
  void note(const RecordEvent& event);
  void send_event(AgentEvent event);
  void notify_ended(bool good);
  void take_signals();
  void report_stop(const AgentCommand& order, const MessageWriter& print_line);
  void end_store(pid_t& store);

  AgentRequest x_request;
  const launch::RuntimeContext& x_context;
  launch::World x_own;
  std::optional<launch::ResolvedLaunch> x_planned; ///< for the first attempt: GPUs may fail before the next
  AgentRendezvous x_rendezvous;
  RunDirectory x_directory;
  std::string x_run_id;
  sigset_t x_mask;
  std::unique_ptr<AgentLivenessWatchdog> x_watchdog; ///< if there are several nodes
  int x_signals = -1;
  std::optional<RunRecord> x_record;
  std::optional<Attempt> x_attempt;
  std::vector<launch::CacheDir> x_caches;
  store::StoreActivity x_activity;
  pid_t x_store = -1;                              ///< serves this attempt's ranks
  bool x_failure_reported = false;                 ///< of this attempt
  bool x_all_good = false;                         ///< the ranks that ran here last have all ended with 0
  std::optional<launch::WorldEvidence> x_evidence; ///< of these ranks' world
  bool x_separate_worlds = false;                  ///< they did not train together
  std::optional<AgentCommand> x_last_command;      ///< the command that was reported last
  std::optional<launch::Outcome> x_end;
  int x_signal = 0;                     ///< that asked this agent to end
  int x_run_signal = 0;                 ///< that asked some agent of the run to
  bool x_saving = false;                ///< the ranks were asked to save, which is what x_signal is for
  int x_own_code = 0;                   ///< of the ranks that ran here last
  std::vector<std::string> x_bad_nodes; ///< reported so far
  std::optional<model::FailureClass> x_failure_class; ///< of what the run ended by
  Clock::time_point x_leaving{};
};

} // namespace hpcml::agent
