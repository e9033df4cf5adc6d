// SPDX-License-Identifier: MIT
// An agent while its ranks run: what happens to them goes to the conductor, what that decides to them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "run/agent/agent_request.hpp"
#include "run/agent/kernel_fault_monitor.hpp"
#include "run/agent/link.hpp"
#include "run/agent/progress_watch.hpp"
#include "run/agent/run_record.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/rank_observer.hpp"
#include "run/launch/supervisor.hpp"
#include "run/resolve/node_setup.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::agent {

/// An attempt that is prepared.
struct Attempt {
  unsigned number = 0;
  launch::World world; ///< as the first rank of this node sees it
  std::shared_ptr<launch::NodeSetup> node;
  std::string directory; ///< RANK/error.json and the like in it
  bool kept = false;     ///< the directory is kept
};

/// Writes a message of a level to the log.
using MessageWriter = std::function<void(util::LogLevel, const std::string&)>;
/// Performs a command that arrives while the ranks run.
using CommandHandler = std::function<void(const AgentCommand&, launch::Supervisor&)>;

/// What has come of the ranks of an attempt.
struct WorkerGroupResult {
  std::optional<StopReason> stop; ///< why they were stopped
  std::optional<EndCommand> end;  ///< the run's end, which came before theirs
  bool line_lost = false;         ///< the coordinator has gone
  /// The failure that was sent to the coordinator, or received from it.
  std::optional<failures::RankFailure> failure;
  bool reported_failure = false; ///< one was sent
  int signal = 0;                ///< that asked this agent to end
};

class WorkerGroup : public launch::RankObserver {
public:
  /// `record`: null where none is kept; `activity`: of the store that this agent serves, null where it does
  /// not.
  WorkerGroup(const AgentRequest& request, const launch::RuntimeContext& context, const Attempt& attempt,
              CoordinatorConnection& link, RunRecord* record, const store::SharedStoreActivity* activity,
              CommandHandler handle_command);

  int fd() const override { return receives_commands() ? x_link.fd() : -1; }
  bool has_output() const override { return x_link.has_output(); }
  std::optional<Time> due() const override;
  bool look(launch::Supervisor& ranks) override;
  std::optional<Time> keep_alive() override { return x_keep_alive_at = x_link.keep_alive(); }
  void started(const launch::RankProcess& process) override;
  void ended(const launch::RankProcess& process, const launch::Supervisor& ranks) override;
  void failed(const launch::RankProcess& process, const launch::Supervisor& ranks) override;
  void on_store_lost(const std::string& why) override;
  void on_stop_requested(int signal) override;

  /// Records, after all ranks have exited, when each finished the rendezvous and wrote its first output,
  /// and which was last.
  void note_start_up(const launch::Supervisor& ranks);

  // Commands of the coordinator.
  void read_stacks_of(const launch::Supervisor& ranks, const std::string& reason);
  /// False if the ranks were stopped before.
  bool stop(const StopReason& reason, const launch::Supervisor& ranks);
  void end(const EndCommand& command) { x_result.end = command; }
  /// Kills the ranks, because the other nodes continue without them.
  void kill(const StopReason& reason, launch::Supervisor& ranks);

  const WorkerGroupResult& result() const { return x_result; }

private:
  /// After the last command, a lost connection is not reported.
  bool receives_commands() const { return !x_result.end && !x_result.line_lost; }
  template <class Event> void send_event(Event event) {
    x_link.send_event({x_attempt.number, std::move(event)});
  }
  failures::RankFailure note_of(const launch::RankProcess& process, const launch::Supervisor& ranks);
  void report_cause(const launch::RankProcess& process, const launch::Supervisor& ranks);
  void notify_failure(failures::RankFailure failure);
  void note(const RecordEvent& event);
  void note_slowest(const std::vector<RankPhaseEnded>& phases);
  double seconds_since_start(Time time) const;
  std::string file_of_rank(unsigned rank, const char* name) const;

  const AgentRequest& x_request;
  const launch::RuntimeContext& x_context;
  const Attempt& x_attempt;
  CoordinatorConnection& x_link;
  RunRecord* x_record;
  CommandHandler x_handle_command;
  Time x_started;
  std::optional<Time> x_keep_alive_at;     ///< also after the last command
  std::optional<ProgressWatch> x_progress; ///< if a stall is to be detected
  std::vector<RankPhaseEnded> x_begun;     ///< when each rank's process had begun
  KernelFaultMonitor x_faults;
  WorkerGroupResult x_result;
};

} // namespace hpcml::agent
