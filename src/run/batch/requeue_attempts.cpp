// SPDX-License-Identifier: MIT
#include "run/batch/requeue_attempts.hpp"

#include <fmt/format.h>
#include <utility>

#include "core/util/log.hpp"
#include "run/batch/job_requeue.hpp"
#include "run/batch/job_time.hpp"
#include "run/batch/resubmission_record.hpp"
#include "run/batch/step_control.hpp"

namespace hpcml::batch {

void RequeueAttempts::keep_script(const BatchRequest& request, const BatchJob& job,
                                  const util::EnvSnapshot& env) {
  const ResubmissionRecord kept{job.name,
                                job.first,
                                job.restarts - job.starts_here,
                                job.array_task,
                                env.get_or("PWD", "/"),
                                request.submit_command,
                                script_arguments(job.command),
                                {}};
  const auto copy = keep_job(kept, script_of(job.command), saved_job_directories(env, kept.directory));
  if (copy)
    x_kept_script = *copy;
  else
    util::log_warning(
        fmt::format("cannot copy the script for 'hpcml submit --continue', so that the job runs "
                    "without a copy: {}\n"
                    "hint: set XDG_STATE_HOME, or check the quota of your home directory",
                    copy.error().what));
}

void RequeueAttempts::forget_script(const BatchJob& job, const util::EnvSnapshot& env) {
  if (x_kept_script.empty()) return;
  const auto directories = saved_job_directories(env, env.get_or("PWD", "/"));
  for (const auto& name : {job.name, job.first}) forget_job(name, directories);
}

Event RequeueAttempts::attempt(const BatchRequest& request, const BatchJob& job,
                               const slurm::Commands& commands, const util::EnvSnapshot& env) {
  // SIGTERM may be a user's scancel, or the time limit, which passes while Slurm does not answer.
  const bool is_repeated = std::exchange(x_retry_at, std::nullopt).has_value();
  if (is_repeated && is_cancelled(commands, job.name))
    return {EventKind::requeue_refused, false, 0, "it was cancelled"};
  const auto result = requeue_job(request, job, x_kept_script, commands, env);
  if (result.answer == RequeueAnswer::unreachable) {
    x_retry_at = Clock::now() + k_retry_interval;
    util::log_debug(fmt::format("slurmctld does not answer: {}", result.why));
    return {EventKind::requeue_delayed};
  }
  x_kept_script.clear(); // it stays for the next start
  const bool accepted = result.answer == RequeueAnswer::accepted;
  return {accepted ? EventKind::requeue_accepted : EventKind::requeue_refused, false, 0, result.why};
}

} // namespace hpcml::batch
