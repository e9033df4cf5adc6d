// SPDX-License-Identifier: MIT
#include "slurm/client.hpp"

#include <chrono>

#include "util/process.hpp"

namespace hpcml::slurm {

namespace {

// A controller under load answers after half a minute, and sbatch itself tries again for a while.
constexpr std::chrono::seconds k_submit_limit(180);

const char* const k_look_first = "Slurm may have taken the job nevertheless: look with squeue --me before you submit again";

util::Result<util::ProcessOutput> run_sbatch(std::vector<std::string> words, const std::vector<std::string>& options, const std::string& script,
                                             const util::EnvSnapshot& env) {
  if (!util::find_program(words.front(), env))
    return util::Error{"there is no Slurm on this machine: sbatch is not in PATH",
                       "run this on a login node of the cluster, or rehearse it: hpcml emulate --site SITE -- hpcml submit ..."};
  words.insert(words.end(), options.begin(), options.end());
  auto output = util::run_process(words, env, k_submit_limit, script);
  if (output && output->exit_code != 0) return explain_refusal(output->err.empty() ? output->out : output->err);
  return output;
}

} // namespace

util::Result<SubmittedJob> Client::submit(const std::string& script, const std::vector<std::string>& options, const util::EnvSnapshot& env) const {
  const auto output = run_sbatch({"sbatch", "--parsable"}, options, script, env);
  if (output) return parse_submitted(output->out, output->err);
  auto error = output.error();
  if (error.hint.empty() && error.what.find("took longer") != std::string::npos) error.hint = k_look_first;
  return error;
}

util::Result<StartEstimate> Client::estimate(const std::string& script, const std::vector<std::string>& options, const util::EnvSnapshot& env) const {
  const auto output = run_sbatch({"sbatch", "--test-only"}, options, script, env);
  if (!output) return output.error();
  return parse_estimate(output->err);
}

util::Result<std::vector<JobRecord>> Client::find_job(const std::string& id) const {
  const auto now = x_commands.ask({"scontrol", "show", "job", id});
  if (now.ok()) return parse_job_records(now.output.out);
  if (now.why_not.find("Invalid job id") == std::string::npos)
    return util::Error{now.command() + ": " + now.why_not, "Slurm may be busy: try again"};
  // The controller forgets jobs some minutes after their end; the accounting remembers them, where there is one.
  const auto past = x_commands.ask({"sacct", "--allocations", "--noheader", "--parsable2", "--format=JobIDRaw,State,ExitCode,NodeList", "--jobs=" + id});
  return past.ok() ? parse_accounting(past.output.out) : std::vector<JobRecord>{};
}

} // namespace hpcml::slurm
