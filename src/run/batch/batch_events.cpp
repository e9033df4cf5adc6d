// SPDX-License-Identifier: MIT
// What a batch process waits for: signals, the end of its script and of its steps, and the time limit.
#include <csignal>
#include <ctime>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "run/batch/batch_process.hpp"
#include "run/batch/step_processes.hpp"

namespace hpcml::batch {

namespace {

constexpr int k_look_interval = 300; ///< ms between looks at the steps
constexpr int k_tick = 1000;         ///< ms between looks at the clock, if a time is waited for

} // namespace

int BatchProcess::next_timeout() const {
  if (x_steps.is_active() || x_script.is_ending()) return k_look_interval;
  return x_limit.is_on() || x_requeue.is_waiting() || x_limit.is_asking() ? k_tick : -1;
}

void BatchProcess::wait_for_events() {
  pollfd waits[2] = {{x_signals, POLLIN, 0}, {x_limit.descriptor(), POLLIN, 0}};
  ::poll(waits, 2, next_timeout());
  read_signals();
  if (const auto code = x_script.take_exit_code())
    x_events.push_back({EventKind::script_ended, false, *code, {}});
  x_limit.refresh(x_job.name, x_env, x_state.phase);
  if (const auto event = x_limit.event_at(std::time(nullptr), x_state.phase)) x_events.push_back({*event});
  if (x_steps.is_active()) look_at_steps();
  const auto now = std::chrono::steady_clock::now();
  if (x_requeue.is_due(now)) requeue();
  x_script.kill_if_due(now);
}

void BatchProcess::read_signals() {
  signalfd_siginfo info{};
  while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD || signal == SIGCONT) continue;
    if (signal == SIGTERM) {
      x_events.push_back({EventKind::job_ending});
      // With cgroups Slurm signals this process alone, and otherwise also the script's shell.
      if (x_limit.is_on() || !is_tracked_by_cgroup(read_cgroups())) continue;
    } else if (signal == SIGUSR1 && x_limit.is_on()) {
      x_events.push_back({EventKind::limit_near});
      continue;
    }
    x_script.signal(signal);
  }
}

void BatchProcess::look_at_steps() {
  if (auto event = x_steps.look(x_script.pid())) x_events.push_back(std::move(*event));
}

} // namespace hpcml::batch
