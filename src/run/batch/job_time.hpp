// SPDX-License-Identifier: MIT
// What Slurm's controller knows of a running job: when it ends, and whether its nodes are given to another
// job.
#pragma once

#include <ctime>
#include <string>

#include "core/slurm/commands.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::batch {

/// SLURM_JOB_END_TIME (from Slurm 22.05 on); 0 if it is not set.
std::time_t end_time_of_environment(const util::EnvSnapshot& env);

/// EndTime of a running job in the output of `scontrol -o show job`; 0 if the job does not run or has none.
std::time_t parse_end_time(const std::string& record);

/// When the ranks are to be asked to save, and when what is left is needed for the requeue.
struct SaveTimes {
  std::time_t ask = 0;
  std::time_t give_up = 0;
};
/// `end`: time limit of the job; `lead`: how long before it, in seconds. A tenth of it, 1 to 30 s, is for the
/// requeue.
SaveTimes save_times(std::time_t end, long lead);

/// Whether a user has cancelled the job. False if Slurm does not answer.
bool is_cancelled(const slurm::Commands& commands, const std::string& job);

/// Whether Slurm gives the nodes of this start of a job to another job. False if Slurm does not answer.
bool is_preempted(const slurm::Commands& commands, const std::string& job, const std::string& restarts);

} // namespace hpcml::batch
