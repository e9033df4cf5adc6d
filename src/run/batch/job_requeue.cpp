// SPDX-License-Identifier: MIT
#include "run/batch/job_requeue.hpp"

#include <fmt/format.h>

#include "core/model/hostlist.hpp"
#include "core/slurm/jobs.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/batch/job_nodes.hpp"
#include "run/batch/script_environment.hpp"

namespace hpcml::batch {

namespace {

/// What is to be excluded, as a hostlist; empty if nothing changes or Slurm does not answer.
std::string nodes_to_exclude(const BatchJob& job, const slurm::Commands& commands) {
  const auto bad = read_bad_nodes(job.bad_nodes_file);
  const auto exclusion = bad ? find_exclusion(commands, job.name, *bad) : bad.error();
  if (!exclusion) {
    util::log_warning(
        fmt::format("cannot exclude the faulty nodes of job {0}, which may start on them again: {1}\n"
                    "hint: run scontrol update JobId={0} ExcNodeList=NODES, with the nodes in '{2}'",
                    job.name, exclusion.error().what, job.bad_nodes_file));
    return {};
  }
  for (const auto& line : exclusion->words) util::log_info(line);
  return exclusion->exclude.empty() ? std::string() : model::compress_hostlist(exclusion->exclude);
}

/// Submits a job that takes over, and cancels this one, which waits in the queue. The record of the successor
/// keeps this one from running even if it cannot be cancelled.
void submit_successor(const BatchRequest& request, const BatchJob& job, const std::string& script,
                      const std::string& exclude, const slurm::Commands& commands,
                      const util::EnvSnapshot& env) {
  std::vector<std::string> options = {"--dependency=afterany:" + job.name, "--exclude=" + exclude};
  if (!job.array_task.empty()) options.push_back("--array=" + job.array_task);
  options.push_back(script);
  // It reads the starts file itself.
  const auto restarts = job.restarts - job.starts_here + 1;
  options.push_back(k_successor_argument + job.first + ":" + std::to_string(restarts));
  for (auto& argument : script_arguments(job.command)) options.push_back(std::move(argument));
  const auto submitted =
      script.empty()
          ? util::Error{"hpcml has no copy of the script: check the log for 'cannot copy the script'"}
          : slurm::submit_job(request.submit_command, {}, options,
                              slurm::make_submit_environment(env, options).env);
  if (!submitted)
    return util::log_warning(fmt::format(
        "cannot change the exclude list of job {0} or submit a replacement; it restarts unchanged: {1}\n"
        "hint: run scancel {0}, and submit the job again with --exclude={2}",
        job.name, submitted.error().what, exclude));
  const auto successor = submitted->id + (job.array_task.empty() ? "" : "_" + job.array_task);
  if (const auto written = util::write_file(job.successor_file(), successor + "\n", 0600); !written)
    util::log_warning(written.error().what);
  const auto cancelled = commands.ask({"scancel", job.name});
  if (cancelled.ok())
    return util::log_info(
        fmt::format("cannot change the exclude list of job {0}; submitted job {1} as its replacement\n"
                    "hint: use the number {1} from now on",
                    job.name, successor));
  util::log_info(fmt::format("cannot change the exclude list of job {0}, which exits as soon as it starts; "
                             "submitted job {1} as its replacement\n"
                             "hint: use the number {1} from now on",
                             job.name, successor));
}

} // namespace

bool is_unreachable(const slurm::Answer& answer) {
  if (!answer.executed) return !answer.why_not.ends_with(" is not in PATH"); // it took too long
  return slurm::is_unreachable(answer.output.err);
}

RequeueResult requeue_job(const BatchRequest& request, const BatchJob& job, const std::string& script,
                          const slurm::Commands& commands, const util::EnvSnapshot& env) {
  // Slurm changes the list only of a job that waits, and ends this process soon after it does.
  const auto exclude = nodes_to_exclude(job, commands);
  const auto requeued = commands.ask({"scontrol", "requeue", job.name});
  if (!requeued.ok())
    return {is_unreachable(requeued) ? RequeueAnswer::unreachable : RequeueAnswer::refused, requeued.why_not};
  if (exclude.empty()) return {};
  if (!commands.ask({"scontrol", "update", "jobid=" + job.name, "ExcNodeList=" + exclude}).ok())
    submit_successor(request, job, script, exclude, commands, env);
  return {};
}

std::string read_successor(const BatchJob& job) {
  if (job.bad_nodes_file.empty()) return {};
  const auto text = util::read_input(job.successor_file(), {64, true, k_own_file_hint});
  const auto id = text ? std::string(util::trim(*text)) : std::string();
  return id.find_first_not_of("0123456789_") == std::string::npos ? id : std::string();
}

} // namespace hpcml::batch
