// SPDX-License-Identifier: MIT
// sbatch's answers as values, and what it must not inherit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::slurm {

/// A job that Slurm has taken.
struct SubmittedJob {
  std::string id;                    ///< "12"
  std::string cluster;               ///< of a multi-cluster Slurm, else empty
  std::vector<std::string> messages; ///< what sbatch, or the site's filter before it, said in addition
};
/// The answer of `sbatch --parsable`, or of a site's own command that says it in words; the site's filters
/// may print text around it.
util::Result<SubmittedJob> parse_submitted(std::string_view out, std::string_view err);

/// What `sbatch --test-only` expects.
struct StartEstimate {
  std::string start; ///< "2026-11-21T17:00:40"
  std::string nodes; ///< "nid[000001-000002]"
  std::string partition;
};
/// What sbatch --test-only said, on standard error.
util::Result<StartEstimate> parse_estimate(std::string_view err);

/// Why Slurm does not take a job, from what sbatch printed, with what to do about it.
util::Error explain_refusal(std::string_view err);
/// True if a command's message means that Slurm's controller has not answered: nothing has been decided then.
bool is_unreachable(std::string_view message);

/// The environment to run sbatch in, and what was omitted of it because it would change the script's meaning.
struct SanitizedEnvironment {
  util::EnvSnapshot env;
  std::vector<std::string> left_out; ///< "SBATCH_PARTITION=debug"
};
/// `options`: the names ("--partition") of the script's directives. SBATCH_* variables beat directives, and a
/// job that is submitted from inside another one inherits its SLURM_* variables.
SanitizedEnvironment make_submit_environment(const util::EnvSnapshot& env,
                                             const std::vector<std::string>& options);

/// What the signs of a log's pattern stand for.
struct LogPatternValues {
  std::string job_id;
  std::string task; ///< empty: no array
  std::string job_name;
  std::string user;
};
/// The path of a job's log, from the pattern of --output: %j, %A, %a, %x, %u, %% and zero-padded forms.
std::string expand_log_pattern(std::string_view pattern, const LogPatternValues& names);

/// How many tasks an array has: "0-9%2" has 10, "1,3,10-20:5" has 5; 0 for a text that is not an array.
unsigned long long count_array_tasks(std::string_view array);

} // namespace hpcml::slurm
