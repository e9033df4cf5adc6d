// SPDX-License-Identifier: MIT
// Starts the ranks of a node and supervises them: output, signals, failures. One thread with one poll loop.
#pragma once

#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <vector>

#include "core/util/log.hpp"
#include "hpcml/rank_label.hpp"
#include "run/launch/input_relay.hpp"
#include "run/launch/out_of_memory.hpp"
#include "run/launch/output_multiplexer.hpp"
#include "run/launch/rank_observer.hpp"
#include "run/launch/rank_process.hpp"
#include "run/launch/rank_starter.hpp"

namespace hpcml::launch {

/// Result of the ranks of a node.
struct Outcome {
  int code = 0;   ///< 0, or the code of the rank that failed first
  int signal = 0; ///< the signal that launch received and its ranks ended by: launch should end by it as well
  bool stopped = false; ///< their observer stopped them
};

/// The ranks of one node, from their start to their end.
class Supervisor {
public:
  Supervisor(const LaunchRequest& request, const RuntimeContext& context,
             const std::shared_ptr<const NodeSetup>& node, const SupervisionOptions* oversight = nullptr);
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  /// Returns the last lines of standard error of a rank: at most 20.
  std::vector<std::string> last_lines(unsigned local_rank) const;
  /// Returns when a rank last wrote to either stream, or the current time while it waits for our reader;
  /// nothing if it never wrote.
  std::optional<std::chrono::steady_clock::time_point> last_written(unsigned local_rank) const;
  /// Returns when a rank first wrote to either stream; nothing if it never did.
  std::optional<std::chrono::steady_clock::time_point> first_written(unsigned local_rank) const;
  /// Returns when a rank's launcher finished the rendezvous and replaced itself with the program; nothing
  /// if it has not, or without an observer.
  std::optional<std::chrono::steady_clock::time_point> joined_at(unsigned local_rank) const;

  /// Ranks of this node whose output has reported a world of 1.
  std::vector<unsigned> ranks_in_worlds_of_one() const;
  /// True if a line has reported that all of them have.
  bool has_reported_worlds() const { return x_worlds_reported; }

  /// Starts every rank and waits for all of them.
  Outcome run();

  /// Sets the child process that serves the ranks' store: if it exits first, the ranks are stopped.
  void join_at(pid_t store);
  /// After `run`: if all ranks succeeded, notifies the child by `part` (`StoreChild`) and waits until it
  /// exits, while programs of other nodes need the store. A signal ends the wait.
  Outcome part_from_store(const Outcome& ended, int part);
  /// True if that child has exited, so that another process may have its number.
  bool has_lost_store() const { return x_groups.ended_spared(x_store).has_value(); }

  /// True if the ranks were asked to save and exit.
  bool was_save_requested() const { return x_saving; }
  /// Kills all ranks immediately. Their observer must also stop them.
  void kill();
  /// Writes a message to standard error, between the lines of the ranks.
  void print_line(util::LogLevel level, const std::string& text);
  const std::vector<RankProcess>& ranks() const { return x_groups.ranks(); }
  /// True if every rank was started and exited with 0.
  bool all_succeeded() const;

private:
  using Clock = std::chrono::steady_clock;

  util::Status prepare();
  util::Status raise_file_limit();
  util::Status start();
  util::Status take_started(const RankProcess& process);
  std::vector<OutputRoute> routes_to_output(bool errors_too) const;
  std::vector<OutputRoute> routes_to_errors(bool terminal) const;
  std::size_t file_count() const;
  util::Status open_files();
  void take_last_lines(unsigned local_rank);
  void look_at_worlds();
  void end_start();
  OutputMultiplexer& errors() { return x_err ? *x_err : x_out; }

  void wait_once();
  int wait_milliseconds() const;
  void query_observer();
  void take_signals();
  void pass_on(int signal);
  void ask_to_save();
  void deliver_save_request(int signal);
  void take_request_to_end(int signal);
  void stop();
  void reap();
  void await_signal_of_step(const std::vector<std::size_t>& ended);
  void take_end_of_store();
  void take_end_of_rank(std::size_t index);
  void take_failure(std::size_t index);
  void stop_others();
  void look_for_memory(const RankProcess& process);
  bool ended_by_ours(const RankProcess& process) const;
  std::chrono::seconds grace_after_failure() const;
  void kill_all();
  void kill_when_due();
  void restart_deadlines(Clock::duration late);

  Outcome finish();
  bool pump();
  void take_late_signals();
  void report_lost_output();
  std::string output_fault() const;
  RankLocation location_of_rank(const RankProcess& process) const;
  failures::RankFailure first_failure() const;
  std::string describe_failure() const;
  void report_class_of(const Outcome& outcome);

  const LaunchRequest& x_request;
  const RuntimeContext& x_context;
  const SupervisionOptions* x_oversight; ///< null: no observer
  RankStartContext x_start_of_ranks;
  unsigned x_count;
  OutputMultiplexer x_out;
  std::optional<OutputMultiplexer>
      x_err; ///< none where standard error is the same file: one stream keeps lines whole
  InputRelay x_input;
  RankProcessGroups x_groups;
  RankStarter x_starter;
  sigset_t x_mask_before{};
  int x_signals = -1;
  int x_received = 0;                 ///< the last signal that was passed on
  int x_ending = 0;                   ///< a request to end: the ranks have been asked to
  bool x_saving = false;              ///< the ranks have been asked to save and to end
  bool x_killed = false;              ///< and were killed, since they did not
  Clock::time_point x_requested_at{}; ///< when x_ending came
  std::optional<std::size_t> x_failed;
  std::vector<MemoryCgroup> x_memory;         ///< before the start of the ranks, without an observer
  std::optional<std::string> x_out_of_memory; ///< why the kernel has killed the one that failed
  bool x_stopped = false;                     ///< what ends from now on has not failed
  pid_t x_store = -1;
  std::string x_store_fault;   ///< why the ranks have no store any more
  bool x_raised_files = false; ///< our limit of descriptors
  std::optional<Clock::time_point> x_stop_at, x_kill_at, x_give_up_at, x_drain_until;
  std::optional<Clock::time_point> x_keep_alive_at; ///< once no rank is left
  bool x_finishing = false;                         ///< no rank is left: its overseer has nothing to see
  bool x_drain_given_up = false;
  unsigned x_world_reports = 0; ///< seen by `look_at_worlds`
  bool x_worlds_reported = false;
  Clock::time_point x_start = Clock::now();
};

/// Ends this process by a signal, as its ranks did: srun then reports "Exited with exit code" only for the
/// rank that failed.
void end_by_signal(int signal);

/// The same for a process that has reported why its ranks ended: in a task of srun once that report is read,
/// at most 2.3 s later.
void end_step_by_signal(int signal, const util::EnvSnapshot& env);

} // namespace hpcml::launch
