// SPDX-License-Identifier: MIT
// What `hpcml submit --continue JOB` needs of a job after its end: a copy of its script, and where it ran.
// Kept in the user's state directory for jobs that save or requeue, until one ends with exit code 0.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"

namespace hpcml::batch {

struct ResubmissionRecord {
  std::string job;       ///< "4711", for a task of an array "4711_3"
  std::string first;     ///< the first job of the same work
  unsigned restarts = 0; ///< starts before the last one
  std::string array_task;
  std::string directory; ///< where the job ran
  std::string submit_command = "sbatch";
  std::vector<std::string> arguments; ///< of the script
  std::string script;                 ///< path of the copy
};

/// Directories that hold the records, in the order in which they are tried: $XDG_STATE_HOME/hpcml/jobs (by
/// default
/// ~/.local/state/hpcml/jobs), and .hpcml/jobs in `directory`, for nodes on which the first cannot be
/// written.
std::vector<std::filesystem::path> saved_job_directories(const util::EnvSnapshot& env,
                                                         const std::string& directory);

/// Writes the record and a copy of the script `source`, readable by the user alone. Returns the path of the
/// copy.
util::Result<std::string> keep_job(ResubmissionRecord job, const std::string& source,
                                   const std::vector<std::filesystem::path>& directories);

/// The record of a job. Errors if there is none, with where it was looked for.
util::Result<ResubmissionRecord> load_saved_job(const std::string& job,
                                                const std::vector<std::filesystem::path>& directories);

/// Removes the record and the copy.
void forget_job(const std::string& job, const std::vector<std::filesystem::path>& directories);

} // namespace hpcml::batch
