// SPDX-License-Identifier: MIT
#include "core/slurm/jobs.hpp"

#include <chrono>
#include <fmt/format.h>

#include "core/util/job_secret.hpp"
#include "core/util/process.hpp"

namespace hpcml::slurm {

namespace {

// A controller under load answers after half a minute, and sbatch itself tries again for a while.
constexpr std::chrono::seconds k_submit_limit(180);

/// A call of sbatch or of what a site has in its place.
struct SbatchCall {
  std::vector<std::string> words;
  std::chrono::seconds limit;
  const char* late; ///< the hint if it does not end, or is killed
};

/// What the program printed.
util::Result<util::ProcessOutput> run_sbatch(const SbatchCall& call, const std::string& script,
                                             const util::EnvSnapshot& env) {
  const auto& [words, limit, late] = call;
  if (!util::find_program(words.front(), env))
    return util::Error{
        fmt::format("Slurm is not installed on this machine: {} is not in PATH", words.front()),
        "run this on a login node of the cluster, or rehearse it: hpcml emulate --site SITE "
        "-- hpcml submit ..."};
  auto job_env = env;
  job_env.unset(util::k_job_secret_variable); // Slurm keeps the environment that a job is submitted with
  const auto answer = run_command(words, job_env, limit, script);
  if (!answer.executed) return util::Error{answer.why_not, late};
  const bool silent = answer.output.err.empty() && answer.output.out.empty();
  if (!answer.ok() && silent && answer.output.exit_code > 128)
    return util::Error{fmt::format("{} was killed by signal {} before it printed a result", words.front(),
                                   answer.output.exit_code - 128),
                       late};
  if (!answer.ok()) return explain_refusal(answer.output.err.empty() ? answer.output.out : answer.output.err);
  return answer.output;
}

} // namespace

util::Result<SubmittedJob> submit_job(const std::string& program, const std::string& script,
                                      const std::vector<std::string>& options, const util::EnvSnapshot& env) {
  std::vector<std::string> words = {program, "--parsable"};
  words.insert(words.end(), options.begin(), options.end());
  TRY(const auto output,
      run_sbatch({words, k_submit_limit,
                  "check squeue --me before you submit again: Slurm may have accepted the job"},
                 script, env));
  return parse_submitted(output.out, output.err);
}

util::Result<StartEstimate> estimate_start(const std::string& program, const std::string& script,
                                           const util::EnvSnapshot& env) {
  TRY(const auto output,
      run_sbatch({{program, "--test-only"}, k_answer_timeout, "run it again later: Slurm may be busy"},
                 script, make_plain(env)));
  return parse_estimate(output.err);
}

util::Result<std::vector<JobRecord>> find_job(const Commands& commands, const std::string& id,
                                              const std::string& cluster) {
  const auto ask = [&](std::vector<std::string> words) {
    if (!cluster.empty()) words.insert(words.begin() + 1, "--clusters=" + cluster);
    return commands.ask(words);
  };
  const auto now = ask({"scontrol", "show", "job", id});
  if (now.ok()) return read_job_records(now.output.out);
  if (now.why_not.find("Invalid job id") == std::string::npos)
    return util::Error{now.command() + ": " + now.why_not, "run it again later: Slurm may be busy"};
  // The controller forgets jobs some minutes after their end; the accounting remembers them, where there is
  // one.
  const auto past = ask({"sacct", "--allocations", "--noheader", "--parsable2",
                         "--format=JobID,JobIDRaw,State,ExitCode,NodeList", "--jobs=" + id});
  return past.ok() ? read_accounting(past.output.out) : std::vector<JobRecord>{};
}

} // namespace hpcml::slurm
