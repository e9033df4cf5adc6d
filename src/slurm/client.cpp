// SPDX-License-Identifier: MIT
#include "slurm/client.hpp"

#include <chrono>

#include "util/process.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {

namespace {

// A controller under load answers after half a minute; sbatch itself tries again for a while.
constexpr std::chrono::seconds k_submit_limit(180);
constexpr std::chrono::seconds k_query_limit(60);

/// How people want times and columns shown must not change what is read here.
util::EnvSnapshot with_plain_output(util::EnvSnapshot env) {
  const auto given = env;
  for (const auto& [name, value] : given.variables())
    for (const std::string_view prefix : {"SQUEUE_", "SACCT_", "SCONTROL_", "SINFO_"})
      if (util::starts_with(name, prefix)) env.unset(name);
  env.set("SLURM_TIME_FORMAT", "standard");
  return env;
}

util::Error not_here() {
  return {"there is no Slurm on this machine: sbatch is not in PATH",
          "run this on a login node of the cluster, or rehearse it: hpcml emulate --site SITE -- hpcml submit ..."};
}

util::Result<util::ProcessOutput> run(const std::vector<std::string>& words, const util::EnvSnapshot& env, std::chrono::seconds limit,
                                      const std::string& input = {}) {
  return util::run_process(words, env, std::chrono::duration_cast<std::chrono::milliseconds>(limit), input);
}

std::vector<std::string> with_options(std::vector<std::string> words, const std::vector<std::string>& options) {
  words.insert(words.end(), options.begin(), options.end());
  return words;
}

} // namespace

Client::Client(util::EnvSnapshot env) : x_env(with_plain_output(std::move(env))) {}

bool Client::present() const { return util::find_program("sbatch", x_env).has_value(); }

util::Result<SubmittedJob> Client::submit(const std::string& script, const std::vector<std::string>& options, const util::EnvSnapshot& env) const {
  if (!present()) return not_here();
  const auto output = run(with_options({"sbatch", "--parsable"}, options), env, k_submit_limit, script);
  if (!output) {
    auto error = output.error();
    error.hint = "Slurm may have taken the job nevertheless: look with squeue --me before you submit again";
    return error;
  }
  if (output->exit_code != 0) return explain_refusal(output->err.empty() ? output->out : output->err);
  return parse_submitted(output->out, output->err);
}

util::Result<StartEstimate> Client::estimate(const std::string& script, const std::vector<std::string>& options, const util::EnvSnapshot& env) const {
  if (!present()) return not_here();
  const auto output = run(with_options({"sbatch", "--test-only"}, options), env, k_submit_limit, script);
  if (!output) return output.error();
  if (output->exit_code != 0) return explain_refusal(output->err.empty() ? output->out : output->err);
  return parse_estimate(output->err);
}

util::Result<std::vector<JobRecord>> Client::find_job(const std::string& id) const {
  const auto output = run({"scontrol", "show", "job", id}, x_env, k_query_limit);
  if (!output) return output.error();
  if (output->exit_code == 0) return parse_job_records(output->out);
  if (output->err.find("Invalid job id") == std::string::npos)
    return util::Error{"scontrol show job " + id + " failed: " + std::string(util::trim(output->err)), "Slurm may be busy: try again"};
  // The controller forgets jobs some minutes after their end; the accounting remembers them, where there is one.
  const auto past = run({"sacct", "--allocations", "--noheader", "--parsable2", "--format=JobIDRaw,State,ExitCode,NodeList", "--jobs=" + id}, x_env, k_query_limit);
  if (!past || past->exit_code != 0) return std::vector<JobRecord>{};
  return parse_accounting(past->out);
}

} // namespace hpcml::slurm
