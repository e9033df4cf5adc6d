// SPDX-License-Identifier: MIT
// Signals to launch while it stays with the ranks: what is passed on, what ends them, what asks them to save.
#include <algorithm>
#include <ctime>
#include <iterator>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/util/process.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/signal_targets.hpp"
#include "run/launch/supervisor.hpp"

namespace hpcml::launch {

namespace {

/// The same request may come twice: timeout signals a process and then its group, a shell passes on what the
/// terminal sent all.
constexpr auto k_same_request = std::chrono::milliseconds(250);
/// The output that is kept for a slow reader while the ranks end, because a full pipe must not stop them.
constexpr std::size_t k_last_lines = 16U << 20;

/// How long the ranks may take after INT or TERM. In a job Slurm kills what is left when its own time comes,
/// and a job that asked for an early signal (--signal, preemption) needs that time for its checkpoint.
std::optional<std::chrono::seconds> grace_after_signal(const LaunchRequest& request,
                                                       const RuntimeContext& context) {
  if (request.grace || context.env.get_or("SLURM_JOB_ID", "").empty())
    return request.grace.value_or(k_grace_after_signal);
  return std::nullopt;
}

} // namespace

void Supervisor::take_signals() {
  signalfd_siginfo info{};
  bool ended = false;
  while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const int signal = static_cast<int>(info.ssi_signo);
    // At a terminal Ctrl-\ is the harder Ctrl-C; elsewhere QUIT is a program's own affair (a dump of its
    // stacks).
    const bool end =
        signal == SIGINT || signal == SIGTERM || (signal == SIGQUIT && ::isatty(STDIN_FILENO) != 0);
    if (signal == SIGCHLD)
      ended = true;
    else if (signal == SIGTSTP)
      stop();
    else if (end)
      take_request_to_end(signal);
    else if (is_save_request(signal, find_save_signal(x_context.env)))
      ask_to_save();
    else
      pass_on(signal);
  }
  if (ended) reap();
}

void Supervisor::pass_on(int signal) {
  if (signal != SIGCONT && signal != SIGWINCH) x_received = signal;
  x_groups.signal(signal);
}

/// The ranks may take until their job ends, and what ends from now on has not failed.
void Supervisor::ask_to_save() {
  const int signal = find_save_signal(x_context.env);
  if (signal == 0 || x_ending != 0) return;
  x_saving = true;
  x_received = signal;
  deliver_save_request(signal);
  x_groups.signal(SIGCONT);
}

/// Each rank's processes that handle the signal get it; ranks without any are reported in one line.
void Supervisor::deliver_save_request(int signal) {
  const auto table = ProcessTable::read();
  std::vector<unsigned> unhandled;
  const auto roots = table.children(::getpid());
  for (const auto& rank : x_groups.ranks()) {
    if (!rank.running && !rank.lingers) continue;
    // What has lost its parent is a child of this process now, and still of the rank's group.
    std::vector<ProcessSignalState> own;
    std::copy_if(roots.begin(), roots.end(), std::back_inserter(own),
                 [&](const auto& root) { return root.pid == rank.pid || root.group == rank.pid; });
    const auto tree = table.trees(own, signal);
    const auto targets = choose_targets(tree);
    send_to_targets(targets, signal);
    if (targets.empty() && !tree.empty()) unhandled.push_back(rank.rank);
  }
  if (!unhandled.empty())
    print_line(util::LogLevel::warning,
               describe_unhandled(unhandled, x_start_of_ranks.node->world.layout.world_size, x_context.host,
                                  signal));
}

/// Ctrl-Z stops the ranks and then us; CONT is passed on when it arrives.
void Supervisor::stop() {
  x_groups.signal(SIGTSTP);
  ::raise(SIGSTOP);
}

/// Slurm signals the processes of a task one after the other. A rank may end by TERM before this process gets
/// it, and has not failed then: srun ends the step, or Slurm the job.
void Supervisor::await_signal_of_step(const std::vector<std::size_t>& ended) {
  if (x_ending != 0 || x_failed || x_stopped || !slurm::in_step_task(x_context.env)) return;
  const auto is_terminated = [&](std::size_t index) {
    return util::exit_code_of_status(x_groups.ranks()[index].status) == 128 + SIGTERM;
  };
  if (std::none_of(ended.begin(), ended.end(), is_terminated)) return;
  sigset_t term;
  ::sigemptyset(&term);
  ::sigaddset(&term, SIGTERM);
  const timespec limit{0, std::chrono::nanoseconds(k_same_request).count()};
  if (::sigtimedwait(&term, nullptr, &limit) == SIGTERM) take_request_to_end(SIGTERM);
}

void Supervisor::take_request_to_end(int signal) {
  if (x_ending != 0) {
    if (Clock::now() - x_requested_at > k_same_request) kill_all();
    return;
  }
  x_received = x_ending = signal;
  x_requested_at = Clock::now();
  x_out.queue().set_limit(k_last_lines);
  if (x_err) x_err->queue().set_limit(k_last_lines);
  x_groups.signal(signal);
  x_groups.signal(SIGCONT); // a stopped rank would not handle it
  if (x_oversight) x_oversight->overseer->on_stop_requested(signal);
  if (const auto limit = grace_after_signal(x_request, x_context)) x_kill_at = x_requested_at + *limit;
}

} // namespace hpcml::launch
