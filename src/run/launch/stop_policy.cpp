// SPDX-License-Identifier: MIT
#include "run/launch/stop_policy.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <sys/wait.h>

#include "core/slurm/step_env.hpp"
#include "core/util/process.hpp"
#include "core/util/signal_names.hpp"
#include "hpcml/exit_code.hpp"
#include "run/launch/rank_process.hpp"
#include "run/launch/save_request.hpp"

namespace hpcml::launch {

namespace {

/// At the end, launch stops waiting for a reader that has read nothing for this time.
constexpr auto k_drain = std::chrono::seconds(2);

void append_actions(StopActions& actions, StopActions more) {
  actions.insert(actions.end(), more.begin(), more.end());
}

} // namespace

StopOptions make_stop_options(const LaunchRequest& request, const util::EnvSnapshot& env, bool has_observer) {
  StopOptions options;
  // In a job Slurm kills what is left when its own time comes, and a job that asked for an early signal
  // (--signal, preemption) needs that time for its checkpoint.
  if (request.grace || env.get_or("SLURM_JOB_ID", "").empty())
    options.grace_after_signal = request.grace.value_or(k_grace_after_signal);
  options.grace_after_failure = request.grace.value_or(k_grace_after_failure);
  options.save_signal = find_save_signal(env);
  options.has_observer = has_observer;
  options.in_step_task = slurm::in_step_task(env);
  return options;
}

StopActions StopPolicy::on_signal(int signal, bool at_terminal, Time now) {
  if (is_draining()) return on_drain_signal(signal, now);
  // At a terminal Ctrl-\ is the harder Ctrl-C; elsewhere QUIT is a program's own affair (a dump of its
  // stacks).
  if (signal == SIGINT || signal == SIGTERM || (signal == SIGQUIT && at_terminal)) return end(signal, now);
  // Ctrl-Z stops the ranks and then us; CONT is passed on when it arrives.
  if (signal == SIGTSTP) return {{Kind::signal_ranks, SIGTSTP}, {Kind::suspend}};
  if (is_save_request(signal, x_options.save_signal)) return save();
  return pass_on(signal);
}

StopActions StopPolicy::pass_on(int signal) {
  if (signal != SIGCONT && signal != SIGWINCH) x_forwarded = signal;
  return {{Kind::signal_ranks, signal}};
}

/// The ranks may run until their job ends, and what ends from now on has not failed.
StopActions StopPolicy::save() {
  const int signal = x_options.save_signal;
  if (signal == 0 || is_ending()) return {};
  x_saving = true;
  x_forwarded = signal;
  return {{Kind::request_save, signal}, {Kind::signal_ranks, SIGCONT}};
}

StopActions StopPolicy::end(int signal, Time now) {
  if (is_ending()) return now - x_end_request.at > k_same_request ? kill(now) : StopActions{};
  x_end_request = {signal, now};
  x_forwarded = signal;
  // After a failure they may have less time already.
  if (const auto grace = x_options.grace_after_signal)
    x_deadlines.kill = std::min(x_deadlines.kill.value_or(now + *grace), now + *grace);
  return {{Kind::buffer_output},
          {Kind::signal_ranks, signal},
          {Kind::signal_ranks, SIGCONT}, // a stopped rank would not handle it
          {Kind::notify_request, signal}};
}

StopActions StopPolicy::on_drain_signal(int signal, Time now) {
  if (signal != SIGINT && signal != SIGTERM && signal != SIGHUP && signal != SIGQUIT) return {};
  if (is_ending()) {
    if (now - x_end_request.at > k_same_request) x_drain = Drain::given_up;
    return {};
  }
  x_end_request = {signal, now};
  x_forwarded = signal;
  x_deadlines.drain = now + k_drain;
  return {};
}

StopActions StopPolicy::on_observer_stop(Time now) {
  if (x_stopped) return {};
  x_stopped = true;
  // After a failure the others are being stopped; after a signal they have their time.
  return x_failure || is_ending() || x_saving ? StopActions{} : stop(now);
}

StopActions StopPolicy::on_kill(Time now) {
  x_deadlines.stop.reset();
  x_deadlines.kill.reset();
  if (!x_deadlines.give_up) x_deadlines.give_up = now + k_after_kill; // not later for a second kill
  return {{Kind::signal_ranks, SIGKILL}};
}

/// Treats the end of the store as the failure of a rank: the ranks cannot connect any more, and may not know
/// it yet.
StopActions StopPolicy::on_store_lost(Time now) {
  if (x_store_lost || !needs_ranks()) return {};
  x_store_lost = x_stopped = true;
  StopActions actions{{Kind::notify_store_lost}};
  append_actions(actions, stop(now));
  return actions;
}

bool StopPolicy::may_precede_signal(int status) const {
  return needs_ranks() && x_options.in_step_task && util::exit_code_of_status(status) == 128 + SIGTERM;
}

bool StopPolicy::waits_for_group(int status) const { return status != 0 || !needs_ranks(); }

StopActions StopPolicy::on_rank_ended(std::size_t rank, int status, bool has_others, bool any_left,
                                      Time now) {
  if (status == 0 || x_failure || x_stopped) return {};
  // A shell ends at once by a signal that its program, of the same group, handles: nothing has failed yet.
  if (!has_others || !is_by_forwarded_signal(status)) return take_failure({rank, status}, any_left, now);
  x_undecided.push_back({rank, status});
  return {};
}

StopActions StopPolicy::on_group_ended(std::size_t rank, bool any_left, Time now) {
  const auto found = std::find_if(x_undecided.begin(), x_undecided.end(),
                                  [&](const RankEnd& end) { return end.rank == rank; });
  if (found == x_undecided.end()) return {};
  const auto end = *found;
  x_undecided.erase(found);
  return take_failure(end, any_left, now);
}

StopActions StopPolicy::take_failure(const RankEnd& end, bool any_left, Time now) {
  StopActions actions{{Kind::read_last_lines, 0, end.rank}};
  if (x_failure || x_stopped) return actions;
  x_failure = end;
  x_failure->is_killed = x_killed && WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGKILL;
  const bool by_ours = x_saving || is_by_forwarded_signal(end.status);
  if (!by_ours) actions.push_back({Kind::check_memory, 0, end.rank});
  if (is_ending()) return actions; // they have been asked to exit already
  actions.push_back(by_ours ? StopAction{Kind::notify_request, x_forwarded}
                            : StopAction{Kind::notify_failure, 0, end.rank});
  if (!any_left || x_saving) return actions; // the others keep the remaining time
  // All ranks received the signal that ended this one. They may be saving, and keep their time for it.
  if (by_ours)
    x_deadlines.stop = now + x_options.grace_after_failure;
  else
    append_actions(actions, stop(now));
  return actions;
}

StopActions StopPolicy::stop(Time now) {
  x_deadlines.stop.reset();
  if (!x_deadlines.kill) x_deadlines.kill = now + x_options.grace_after_failure;
  return {{Kind::signal_ranks, SIGTERM}, {Kind::signal_ranks, SIGCONT}};
}

StopActions StopPolicy::kill(Time now) {
  StopActions actions;
  if (is_ending()) {
    x_killed = true;
    actions.push_back({Kind::report_kill, x_end_request.signal});
  }
  append_actions(actions, on_kill(now));
  return actions;
}

StopActions StopPolicy::on_time(Time now) {
  const auto is_due = [&](const std::optional<Time>& deadline) { return deadline && now >= *deadline; };
  StopActions actions;
  if (is_due(x_deadlines.stop)) append_actions(actions, stop(now));
  if (is_due(x_deadlines.kill)) append_actions(actions, kill(now));
  if (is_due(x_deadlines.give_up)) {
    x_deadlines.give_up.reset();
    actions.push_back({Kind::give_up_groups});
  }
  if (is_draining() && is_due(x_deadlines.drain)) x_drain = Drain::given_up;
  return actions;
}

void StopPolicy::on_suspended(std::chrono::steady_clock::duration duration) {
  auto& [stop, kill, give_up, drain] = x_deadlines;
  for (auto* deadline : {&stop, &kill, &give_up, &drain})
    if (*deadline) **deadline += duration;
}

void StopPolicy::on_drain(Time now) {
  x_drain = Drain::waiting;
  x_deadlines = {};
  if (is_ending()) x_deadlines.drain = now + k_drain;
}

void StopPolicy::on_drain_progress(Time now) {
  if (x_deadlines.drain) x_deadlines.drain = now + k_drain;
}

std::optional<StopPolicy::Time> StopPolicy::next_deadline() const {
  std::optional<Time> next;
  for (const auto& deadline : {x_deadlines.stop, x_deadlines.kill, x_deadlines.give_up, x_deadlines.drain})
    if (deadline && (!next || *deadline < *next)) next = deadline;
  return next;
}

/// Returns whether the last forwarded signal ended a rank, directly or as the exit code of a shell.
bool StopPolicy::is_by_forwarded_signal(int status) const {
  return x_forwarded != 0 && util::exit_code_of_status(status) == 128 + x_forwarded;
}

std::optional<std::size_t> StopPolicy::failed_rank() const {
  return x_failure ? std::optional(x_failure->rank) : std::nullopt;
}

std::string StopPolicy::describe_signal() const {
  if (!x_failure || !WIFSIGNALED(x_failure->status)) return {};
  const int signal = WTERMSIG(x_failure->status);
  if (x_failure->is_killed)
    return fmt::format(": it did not exit after {}", util::signal_name(x_end_request.signal));
  return x_forwarded != 0 && signal == x_forwarded ? ", the signal that hpcml launch received" : "";
}

LaunchOutcome StopPolicy::outcome_of_request() const {
  return {128 + x_end_request.signal, x_end_request.signal, x_stopped};
}

LaunchOutcome StopPolicy::outcome(bool output_failed) const {
  const auto requested = outcome_of_request();
  LaunchOutcome outcome{0, 0, x_stopped};
  if (x_stopped && is_ending()) outcome = requested;
  if (x_failure) {
    const int status = x_failure->status;
    // Our own KILL is not what ended the ranks: the signal that launch was sent is.
    const int code = x_failure->is_killed ? requested.code : util::exit_code_of_status(status);
    outcome = {code, x_forwarded != 0 && code == 128 + x_forwarded ? x_forwarded : 0, x_stopped};
  }
  if (!x_options.has_observer && x_store_lost) outcome = {k_cannot_set_up, 0, true};
  if (!x_failure && output_failed) outcome.code = k_cannot_set_up;
  if (is_drain_given_up() && outcome.code == 0) outcome = {requested.code, requested.signal};
  return outcome;
}

RunResult StopPolicy::run_result(const LaunchOutcome& outcome, model::FailureClass of_rank) const {
  auto failure = x_store_lost ? std::optional(model::FailureClass::launcher) : std::nullopt;
  if (x_failure && outcome.signal == 0) failure = of_rank;
  return {.code = outcome.code, .signal = outcome.signal, .save_requested = x_saving, .failure = failure};
}

} // namespace hpcml::launch
