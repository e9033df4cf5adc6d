// SPDX-License-Identifier: MIT
// Submitting jobs to Slurm and asking after them.
#pragma once

#include <string>
#include <vector>

#include "slurm/commands.hpp"
#include "slurm/job_record.hpp"
#include "slurm/submission.hpp"
#include "util/env_snapshot.hpp"
#include "util/result.hpp"

namespace hpcml::slurm {

/// The Slurm of this machine. Every call is one command; one that hangs is given up after some minutes.
class Client {
public:
  explicit Client(const util::EnvSnapshot& env) : x_commands(env) {}

  /// `sbatch --parsable OPTIONS`, the script on its standard input; the job gets `env`.
  util::Result<SubmittedJob> submit(const std::string& script, const std::vector<std::string>& options, const util::EnvSnapshot& env) const;
  /// `sbatch --test-only OPTIONS`: nothing is submitted.
  util::Result<StartEstimate> estimate(const std::string& script, const std::vector<std::string>& options, const util::EnvSnapshot& env) const;
  /// The job, or the tasks of an array; empty when Slurm knows it no more.
  util::Result<std::vector<JobRecord>> find_job(const std::string& id) const;

private:
  LiveCommands x_commands;
};

} // namespace hpcml::slurm
