// SPDX-License-Identifier: MIT
// Starts the ranks of a node and supervises them in one thread with one poll loop: waits, passes what happens
// to the policy, and performs what it decides.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/log.hpp"
#include "hpcml/rank_label.hpp"
#include "run/launch/file_limit.hpp"
#include "run/launch/out_of_memory.hpp"
#include "run/launch/output_relay.hpp"
#include "run/launch/rank_observer.hpp"
#include "run/launch/rank_process.hpp"
#include "run/launch/rank_starter.hpp"
#include "run/launch/signal_reader.hpp"
#include "run/launch/stop_policy.hpp"

namespace hpcml::launch {

/// The ranks of one node, from their start to their end.
class Supervisor {
public:
  Supervisor(const LaunchRequest& request, const RuntimeContext& context,
             const std::shared_ptr<const NodeSetup>& node, const SupervisionOptions* oversight = nullptr);
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Starts every rank and waits for all of them.
  LaunchOutcome run();

  /// Sets the child process that serves the ranks' store: if it exits first, the ranks are stopped.
  void join_at(pid_t store);
  /// After `run`: if all ranks succeeded, notifies the child by `part` (`StoreChild`) and waits until it
  /// exits, while programs of other nodes need the store. A signal ends the wait.
  LaunchOutcome part_from_store(const LaunchOutcome& ended, int part);
  /// True if that child has exited, so that another process may have its number.
  bool has_lost_store() const { return x_groups.ended_spared(x_store.pid).has_value(); }

  /// Kills all ranks immediately. Their observer must also stop them.
  void kill();
  /// Writes a message to standard error, between the lines of the ranks.
  void print_line(util::LogLevel level, const std::string& text) { x_output.print_line(level, text); }

  const std::vector<RankProcess>& ranks() const { return x_groups.ranks(); }
  const OutputRelay& output() const { return x_output; }
  /// True if the ranks were asked to save and exit.
  bool was_save_requested() const { return x_policy.is_saving(); }
  /// True if every rank was started and exited with 0.
  bool all_succeeded() const;
  /// Returns when a rank's launcher finished the rendezvous and replaced itself with the program; nothing
  /// if it has not, or without an observer.
  std::optional<std::chrono::steady_clock::time_point> joined_at(unsigned local_rank) const;

private:
  using Clock = std::chrono::steady_clock;

  /// The child that serves the ranks' store.
  struct StoreProcess {
    pid_t pid = -1;
    std::string fault{}; ///< why it serves no more
  };
  /// Whether the kernel has killed ranks (out of memory); unknown with an observer.
  struct MemoryWatch {
    std::vector<MemoryCgroup> before{}; ///< the start of the ranks
    std::optional<std::string> fault{}; ///< the reason why the rank that failed was killed
  };

  RankObserver* observer() const { return x_oversight ? x_oversight->overseer : nullptr; }
  const slurm::StepTaskPosition& layout() const { return x_start.node->world.layout; }
  util::Status prepare();
  util::Status start();
  util::Status take_started(const RankProcess& process);

  void wait_once();
  int wait_milliseconds(std::optional<Clock::time_point> next) const;
  void query_observer();
  void read_signals();
  void reap();
  void await_signal_of_step(const std::vector<std::size_t>& ended);
  void take_end_of_store();
  void take_end_of_rank(std::size_t index);

  void perform(const StopActions& actions);
  void perform(const StopAction& action);
  void notify(const StopAction& action);
  void request_save(int signal);
  void check_memory(const RankProcess& process);
  void report_kill(int signal);
  void give_up_groups();

  LaunchOutcome finish();
  bool write_rest();
  void report_failure_of_ranks(const LaunchOutcome& outcome);
  void report_class_of(const LaunchOutcome& outcome);
  RankLocation location_of_rank(const RankProcess& process) const;
  failures::RankFailure first_failure(const RankProcess& process) const;
  std::string describe_failure(const RankProcess& process) const;

  System& x_system;
  const SupervisionOptions* x_oversight; ///< null: no observer
  RankStartContext x_start;
  OutputRelay x_output;
  RankProcessGroups x_groups;
  StopPolicy x_policy;
  StoreProcess x_store;
  MemoryWatch x_memory;
  Clock::time_point x_started_at = x_system.now();
  SignalReader x_signals;
  FileLimit x_file_limit;
};

/// Ends this process by a signal, as its ranks did: srun then reports "Exited with exit code" only for the
/// rank that failed.
void end_by_signal(System& system, int signal);

/// The same for a process that has reported why its ranks ended: in a task of srun once that report is read,
/// at most 2.3 s later.
void end_step_by_signal(System& system, int signal, const util::EnvSnapshot& env);

} // namespace hpcml::launch
