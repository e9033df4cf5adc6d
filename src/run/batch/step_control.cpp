// SPDX-License-Identifier: MIT
#include "run/batch/step_control.hpp"

#include <algorithm>
#include <csignal>
#include <unistd.h>

#include "run/batch/step_processes.hpp"
#include "run/launch/save_request.hpp"

namespace hpcml::batch {

std::optional<Event> StepControl::look(pid_t script) {
  const auto found = find_steps(read_processes(), ::getpid(), script);
  if (x_holds_script) {
    stop_processes(found.shells);
    signal_steps(found.steps);
  }
  if (!x_awaits_end || !found.steps.empty()) return std::nullopt;
  x_awaits_end = false;
  return Event{EventKind::steps_ended, found.exit_code.has_value(), found.exit_code.value_or(0), {}};
}

void StepControl::signal_steps(const std::vector<pid_t>& steps) {
  std::vector<pid_t> fresh;
  std::copy_if(steps.begin(), steps.end(), std::back_inserter(fresh),
               [&](pid_t step) { return x_signalled.count(step) == 0; });
  if (x_repeat_at && Clock::now() >= *x_repeat_at) fresh = steps;
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
  x_repeat_at.reset();
  if (!by_srun) {
    const std::string name(by_launch ? model::k_save_word : x_request.save_signal.text());
    if (x_commands.ask({"scancel", "--signal=" + name, x_job}).ok()) return;
    if (!reaches_tasks) x_repeat_at = Clock::now() + k_retry_interval;
  }
  if (!reaches_tasks) return;
  for (const pid_t step : fresh) ::kill(step, forwarded);
}

} // namespace hpcml::batch
