// SPDX-License-Identifier: MIT
// Decides how the ranks of a node are stopped: which signals they get and when, which failure is the first,
// and the exit code of launch. Pure: events and the time come in, actions go out, and the supervisor performs
// them.
//
//            INT or TERM                              the grace period ends, or a second signal
//   running ─────────────► ending (got that signal) ──────────────────────────────┐
//      │                                                                          ▼
//      │  a rank failed, the store exited,                 the grace period     killed
//      │  or the observer stops the ranks                  ends                   │
//      ├───────────────────────────────────► stopping (got TERM) ─────────────────┤ 2 s later, for
//      │                                        ▲                                 │ processes that
//      │  a forwarded signal ended a rank       │ the grace period ends           │ KILL did not end
//      ├───────────────────────────────► waiting for the others (they got         ▼
//      │                                 the signal as well)                   given up
//      │  request to save
//      └────────────────► saving: the ranks may run until Slurm ends the job
//
//   no process group is left ─► draining ─► all output is written
//                                  │  after INT, TERM, HUP or QUIT: the reader accepts nothing for 2 s,
//                                  └─────────────────────► drain given up       or a second signal
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "run/launch/end_class.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::launch {

/// The same request may come twice in this time: timeout signals a process and then its group, a shell passes
/// on what the terminal sent all.
constexpr auto k_same_request = std::chrono::milliseconds(250);
/// A process that SIGKILL does not end in this time cannot be ended.
constexpr auto k_after_kill = std::chrono::seconds(2);

/// Result of the ranks of a node.
struct LaunchOutcome {
  int code = 0;   ///< 0, or the code of the rank that failed first
  int signal = 0; ///< the signal that launch received and its ranks ended by: launch should end by it as well
  bool stopped = false; ///< their observer stopped them
  bool operator==(const LaunchOutcome&) const = default;
};

/// What differs between launches.
struct StopOptions {
  /// Time of the ranks after INT or TERM; nothing: Slurm kills what is left when the time of its job is over.
  std::optional<std::chrono::seconds> grace_after_signal;
  std::chrono::seconds grace_after_failure =
      k_grace_after_failure; ///< time of the others after a rank has failed
  int save_signal = 0;       ///< that asks the ranks to save; 0: none
  bool has_observer = false; ///< an agent, which reports failures itself
  bool in_step_task = false; ///< Slurm signals the ranks as well
};
StopOptions make_stop_options(const LaunchRequest& request, const util::EnvSnapshot& env, bool has_observer);

/// One step for the supervisor.
struct StopAction {
  enum class Kind {
    signal_ranks,      ///< send `signal` to each process of each group
    request_save,      ///< send `signal` to those processes that handle it
    suspend,           ///< stop this process until it is continued
    buffer_output,     ///< a slow reader must not delay the exit of the ranks
    read_last_lines,   ///< read what `rank` has written to standard error
    check_memory,      ///< find out if the kernel killed `rank` (out of memory)
    notify_request,    ///< the observer: the ranks were asked to exit by `signal`
    notify_failure,    ///< the observer: `rank` was the first to fail
    notify_store_lost, ///< the observer: the ranks have no store any more
    report_kill,       ///< the ranks did not exit after `signal`
    give_up_groups,    ///< wait for no group any more
  };
  Kind kind = Kind::signal_ranks;
  int signal = 0;
  std::size_t rank = 0; ///< by its position in the supervisor's list
  bool operator==(const StopAction&) const = default;
};
/// To perform in this order.
using StopActions = std::vector<StopAction>;

class StopPolicy {
public:
  using Time = std::chrono::steady_clock::time_point;

  explicit StopPolicy(const StopOptions& options) : x_options(options) {}

  // Events. `now` never decreases.

  /// launch has received a signal, except SIGCHLD. `at_terminal`: standard input is a terminal.
  StopActions on_signal(int signal, bool at_terminal, Time now);
  /// The observer has decided that the ranks are to be stopped.
  StopActions on_observer_stop(Time now);
  /// The observer requires that the ranks are killed at once.
  StopActions on_kill(Time now);
  /// The store's process has exited while ranks run.
  StopActions on_store_lost(Time now);
  /// A rank has exited. `has_others`: its group has other processes, and they are waited for; `any_left`: a
  /// group is waited for.
  StopActions on_rank_ended(std::size_t rank, int status, bool has_others, bool any_left, Time now);
  /// The group of such a rank has ended, or is given up.
  StopActions on_group_ended(std::size_t rank, bool any_left, Time now);
  /// Time has passed: to be called at `next_deadline`.
  StopActions on_time(Time now);
  /// This process was paused for `duration`, and the ranks with it: they have as much time as before.
  void on_suspended(std::chrono::steady_clock::duration duration);
  /// No group is left: only output is to be written.
  void on_drain(Time now);
  /// The reader has accepted some of it.
  void on_drain_progress(Time now);

  // Queries.

  std::optional<Time> next_deadline() const;
  /// True if a rank that exited with this status may have received TERM from Slurm before launch did.
  bool may_precede_signal(int status) const;
  /// True if processes that a rank leaves are waited for. Those of a rank that exited well may continue.
  bool waits_for_group(int status) const;
  bool is_draining() const { return x_drain != Drain::none; }
  bool is_drain_given_up() const { return x_drain == Drain::given_up; }
  /// True if launch has received a signal to end.
  bool is_ending() const { return x_end_request.signal != 0; }
  bool is_saving() const { return x_saving; }
  bool is_stopped() const { return x_stopped; }
  /// True if launch itself ends the ranks, so that their children must not survive either.
  bool ends_descendants() const { return x_failure || x_stopped; }
  /// True if a rank failed or the store's process exited: without an observer that is reported.
  bool has_failure() const { return x_failure || x_store_lost; }
  /// The first rank that failed.
  std::optional<std::size_t> failed_rank() const;
  /// Returns a clause for the report if that rank ended by a signal to launch; else empty.
  std::string describe_signal() const;
  /// Returns the result. `output_failed`: what the ranks wrote could not be written.
  LaunchOutcome outcome(bool output_failed) const;
  /// Returns the result of a launch that ends as it was requested to.
  LaunchOutcome outcome_of_request() const;
  /// Returns the facts for the class of this result. `of_rank`: the class of the failure of `failed_rank`.
  RunResult run_result(const LaunchOutcome& outcome, model::FailureClass of_rank) const;

private:
  using Kind = StopAction::Kind;
  enum class Drain { none, waiting, given_up };
  /// INT or TERM, or any signal to end while output is written.
  struct EndRequest {
    int signal = 0; ///< 0: none
    Time at{};
  };
  struct RankEnd {
    std::size_t rank = 0;
    int status = 0;
    bool is_killed = false; ///< by launch, as it did not exit after `x_end_request`
  };
  struct Deadlines {
    std::optional<Time> stop, kill, give_up, drain;
  };

  StopActions on_drain_signal(int signal, Time now);
  StopActions end(int signal, Time now);
  StopActions save();
  StopActions pass_on(int signal);
  StopActions stop(Time now);
  StopActions kill(Time now);
  StopActions take_failure(const RankEnd& end, bool any_left, Time now);
  bool is_by_forwarded_signal(int status) const;
  bool needs_ranks() const { return !x_failure && !x_stopped && !is_ending(); }

  StopOptions x_options;
  EndRequest x_end_request;
  int x_forwarded = 0;   ///< the last signal that all ranks received and may end by
  bool x_saving = false; ///< the ranks have been asked to save
  bool x_killed = false; ///< they did not exit after `x_end_request`
  bool x_stopped = false;
  bool x_store_lost = false;
  Drain x_drain = Drain::none;
  std::optional<RankEnd> x_failure; ///< the first
  std::vector<RankEnd> x_undecided; ///< have they failed? Known when their groups have ended
  Deadlines x_deadlines;
};

} // namespace hpcml::launch
