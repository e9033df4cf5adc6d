// SPDX-License-Identifier: MIT
// What a batch process waits for: signals, the end of its script and of its steps, and the time limit.
#include <algorithm>
#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/batch/batch_process.hpp"
#include "run/batch/job_time.hpp"
#include "run/batch/step_processes.hpp"
#include "run/launch/save_request.hpp"

namespace hpcml::batch {

namespace {

constexpr std::chrono::seconds k_question_interval(60);
constexpr int k_look_interval = 300; ///< ms between looks at the steps
constexpr int k_tick = 1000;         ///< ms between looks at the clock, if a time is waited for

} // namespace

int BatchProcess::next_timeout() const {
  if (x_awaits_steps || x_holds_script || x_kill_time != Clock::time_point::max()) return k_look_interval;
  const bool watches_time = x_request.save_before.count() > 0 || x_retries_requeue || x_question.is_running();
  return watches_time ? k_tick : -1;
}

void BatchProcess::wait_for_events() {
  pollfd waits[2] = {{x_signals, POLLIN, 0}, {x_question.descriptor(), POLLIN, 0}};
  ::poll(waits, 2, next_timeout());
  read_signals();
  take_ended_script();
  take_end_time();
  watch_time_limit();
  if (x_awaits_steps || x_holds_script) look_at_steps();
  if (x_retries_requeue && Clock::now() >= x_next_try) perform({ActionKind::requeue});
  if (Clock::now() < x_kill_time) return;
  x_kill_time = Clock::time_point::max();
  if (x_script_pid > 0) ::kill(x_script_pid, SIGKILL);
}

void BatchProcess::read_signals() {
  signalfd_siginfo info{};
  while (::read(x_signals, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD || signal == SIGCONT) continue;
    if (signal == SIGTERM) {
      x_events.push_back({EventKind::job_ending});
      // With cgroups Slurm signals this process alone, and otherwise also the script's shell.
      if (x_request.save_before.count() > 0 || !is_tracked_by_cgroup(read_cgroups())) continue;
    } else if (signal == SIGUSR1 && x_request.save_before.count() > 0) {
      x_events.push_back({EventKind::limit_near});
      continue;
    }
    if (x_script_pid > 0) ::kill(x_script_pid, signal);
  }
}

void BatchProcess::take_ended_script() {
  int status = 0;
  if (x_script_pid == 0 || ::waitpid(x_script_pid, &status, WNOHANG) != x_script_pid) return;
  x_script_pid = 0;
  x_kill_time = Clock::time_point::max();
  x_events.push_back({EventKind::script_ended, false, util::exit_code_of_status(status), {}});
}

void BatchProcess::look_at_steps() {
  const auto found = find_steps(read_processes(), ::getpid(), x_script_pid);
  if (x_holds_script) {
    stop_processes(found.shells);
    signal_steps(found.steps);
  }
  if (!x_awaits_steps || !found.steps.empty()) return;
  x_awaits_steps = false;
  x_events.push_back({EventKind::steps_ended, found.exit_code.has_value(), found.exit_code.value_or(0), {}});
}

void BatchProcess::signal_steps(const std::vector<pid_t>& steps) {
  std::vector<pid_t> fresh;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(fresh),
               [&](pid_t step) { return x_signalled.count(step) == 0; });
  if (x_repeats_signal && Clock::now() >= x_next_try) fresh = steps;
  if (fresh.empty()) return;
  x_signalled.insert(fresh.begin(), fresh.end());
  const bool by_launch = x_request.save_route == SaveSignalRoute::launch;
  const int wanted = launch::number_of(x_request.save_signal);
  // A launch also takes USR2 if its program's signal is one that srun does not forward.
  const int forwarded = launch::is_forwarded_by_srun(wanted) ? wanted : SIGUSR2;
  const bool reaches_tasks =
      !x_env.get("SLURM_HET_SIZE") && (by_launch || launch::is_forwarded_by_srun(wanted));
  // Without cgroups Slurm signals all processes of a task, and those without a handler would end: the
  // launchers have another signal, which srun does not forward.
  const bool by_srun = reaches_tasks && (!by_launch || is_tracked_by_cgroup(read_cgroups()));
  x_repeats_signal = false;
  if (!by_srun) {
    const std::string name(by_launch ? model::k_save_word : x_request.save_signal.text());
    if (x_commands.ask({"scancel", "--signal=" + name, x_job.name}).ok()) return;
    x_repeats_signal = !reaches_tasks;
    x_next_try = Clock::now() + k_retry_interval;
  }
  if (!reaches_tasks) return;
  for (const pid_t step : fresh) ::kill(step, forwarded);
}

void BatchProcess::watch_time_limit() {
  const auto lead = static_cast<long>(x_request.save_before.count());
  if (lead == 0 || (x_end_time == 0 && x_saving_since == 0)) return;
  // If Slurm has only sent its signal, the limit is that much later.
  const auto times = save_times(x_end_time != 0 ? x_end_time : x_saving_since + lead, lead);
  const auto now = std::time(nullptr);
  if (x_state.phase == Phase::running && now >= times.ask) x_events.push_back({EventKind::limit_near});
  if (x_state.phase == Phase::saving && now >= times.give_up) x_events.push_back({EventKind::save_time_over});
}

void BatchProcess::take_end_time() {
  if (const auto record = x_question.take()) {
    if (const auto end = parse_end_time(*record); end > 0) x_end_time = end;
  }
  const bool is_needed = x_request.save_before.count() > 0 && x_state.phase == Phase::running;
  if (!is_needed || x_question.is_running() || Clock::now() < x_next_question) return;
  x_next_question = Clock::now() + k_question_interval;
  x_question.start({"scontrol", "-o", "show", "job", x_job.name}, slurm::make_plain(x_env),
                   slurm::k_answer_timeout);
}

} // namespace hpcml::batch
