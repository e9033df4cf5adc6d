// SPDX-License-Identifier: MIT
// Submitting jobs to Slurm and asking after them.
#pragma once

#include <string>
#include <vector>

#include "core/slurm/commands.hpp"
#include "core/slurm/job_record.hpp"
#include "core/slurm/submission.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::slurm {

/// `PROGRAM --parsable OPTIONS`, the script on its standard input; the job gets `env`. `program` is sbatch or
/// what a site has in its place.
util::Result<SubmittedJob> submit_job(const std::string& program, const std::string& script,
                                      const std::vector<std::string>& options, const util::EnvSnapshot& env);
/// `PROGRAM --test-only`: nothing is submitted.
util::Result<StartEstimate> estimate_start(const std::string& program, const std::string& script,
                                           const util::EnvSnapshot& env);
/// The job, or the tasks of an array; empty when Slurm knows it no more. `cluster` is where sbatch said that
/// the job is, if it did.
util::Result<std::vector<JobRecord>> find_job(const Commands& commands, const std::string& id,
                                              const std::string& cluster = {});

} // namespace hpcml::slurm
