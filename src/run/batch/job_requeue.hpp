// SPDX-License-Identifier: MIT
// Puts a job back into Slurm's queue without the nodes that were found faulty.
#pragma once

#include <string>

#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

enum class RequeueAnswer {
  accepted,
  refused,     ///< Slurm does not requeue this job
  unreachable, ///< Slurm's controller does not answer: to be tried again
};

struct RequeueResult {
  RequeueAnswer answer = RequeueAnswer::accepted;
  std::string why; ///< unless it was accepted
};

/// Whether Slurm's controller could not be asked, by what scontrol has printed.
bool is_unreachable(const slurm::Answer& answer);

/// Asks Slurm to requeue the job. `script`: a copy of the job's script that outlives it, for a job that takes
/// over if the exclude list may not be changed. Reports each step to standard error.
RequeueResult requeue_job(const BatchRequest& request, const BatchJob& job, const std::string& script,
                          const slurm::Commands& commands, const util::EnvSnapshot& env);

/// The job that has taken over `job`'s work; empty: none.
std::string read_successor(const BatchJob& job);

} // namespace hpcml::batch
