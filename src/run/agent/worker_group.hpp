// SPDX-License-Identifier: MIT
// An agent while its ranks run: what happens to them goes to the conductor, what that decides to them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/node_health/kernel_log.hpp"
#include "run/agent/agent_request.hpp"
#include "run/agent/link.hpp"
#include "run/agent/run_record.hpp"
#include "run/agent/stall_watch.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/out_of_memory.hpp"
#include "run/launch/rank_observer.hpp"
#include "run/launch/supervisor.hpp"
#include "run/resolve/node_setup.hpp"
#include "run/store/store_activity.hpp"

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
/// Reports why all ranks are stopped.
using StopReporter = std::function<void(const AgentCommand&, const MessageWriter&)>;

class WorkerGroup : public launch::RankObserver {
public:
  /// `record`: null where none is kept; `activity`: of the store that this agent serves, null where it does
  /// not.
  WorkerGroup(const AgentRequest& request, const launch::RuntimeContext& context, const Attempt& attempt,
              CoordinatorConnection& link, RunRecord* record, const store::StoreActivity* activity,
              StopReporter report_stop);

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

  // What has come of it:
  std::optional<AgentCommand> stop; ///< the order by which the ranks were stopped
  std::optional<AgentCommand> end;  ///< the run's end, which came before that of the ranks
  bool line_lost = false;           ///< the conductor has gone
  bool reported_failure = false;
  int signal = 0; ///< that asked this agent to end

private:
  /// After the last command, a lost connection is not reported.
  bool receives_commands() const { return !end && !line_lost; }
  void send_event(AgentEvent event);
  void take(const AgentCommand& order, launch::Supervisor& ranks);
  void watch_for_stall(const launch::Supervisor& ranks);
  void read_stacks_of(const launch::Supervisor& ranks, const AgentCommand& order);
  failures::RankFailure note_of(const launch::RankProcess& process, const launch::Supervisor& ranks);
  void report_cause(const launch::RankProcess& process, const launch::Supervisor& ranks);
  void notify_failure(failures::RankFailure failure);
  const std::string& gpu_fault();
  void note(const RecordEvent& event);
  void note_slowest(const std::vector<RankPhaseEnded>& phases);
  double seconds_since_start(Time time) const;
  std::string file_of_rank(unsigned rank, const char* name) const;

  const AgentRequest& x_request;
  const launch::RuntimeContext& x_context;
  const Attempt& x_attempt;
  CoordinatorConnection& x_link;
  RunRecord* x_record;
  const store::StoreActivity* x_activity;
  StopReporter x_report_stop;
  Time x_started;
  std::optional<failures::RankFailure>
      x_reported;                      ///< the failure that was sent to the coordinator, or received from it
  std::optional<Time> x_keep_alive_at; ///< also after the last order
  std::optional<StallWatch> x_stall;
  std::vector<std::string> x_progress; ///< of each local rank's progress file, what was seen of it last
  std::vector<RankPhaseEnded> x_begun; ///< when each rank's process had begun
  std::vector<launch::MemoryCgroup> x_memory; ///< before the ranks were started
  node_health::KernelLog x_kernel;            ///< since then
  std::string x_gpu_fault;                    ///< its message about a GPU
};

} // namespace hpcml::agent
