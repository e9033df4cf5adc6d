// SPDX-License-Identifier: MIT
// Finds the key of a job, and what distinguishes the job from others for launchers and stores.
#pragma once

#include <string>

#include "core/slurm/step_env.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/resolve/job_channel_key.hpp"

namespace hpcml::launch {

/// Returns what all launchers and stores of a job report of it, and those of no other job: its number, its
/// restarts and this user.
std::string rendezvous_job(const slurm::StepIdentity& identity);

/// Finds the key of a job: HPCML_JOB_SECRET, else the user's key file. `starts_all_ranks`: all ranks are
/// children of this process, so a key that is drawn here is shared. The error is about a key that exists and
/// is invalid.
util::Result<JobChannelKey> find_job_channel(const util::EnvSnapshot& env,
                                             const slurm::StepIdentity& identity, bool starts_all_ranks);

/// Returns the value of HPCML_JOB_SECRET for the steps of this job: one that follows from the user's key
/// file, else a random one. One that is set already may be another job's, from which this one was submitted.
util::Result<std::string> make_job_secret(const util::EnvSnapshot& env);

} // namespace hpcml::launch
