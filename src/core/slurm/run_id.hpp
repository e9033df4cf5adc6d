// SPDX-License-Identifier: MIT
// The ID of a training over all starts of its job.
#pragma once

#include <string>

#include "core/util/env_snapshot.hpp"

namespace hpcml::slurm {

/// In the environment of scripts and ranks: ID of the training.
inline constexpr const char* k_run_id_variable = "HPCML_RUN_ID";

/// The number of the job, or "ARRAY_TASK"; empty outside of jobs.
std::string job_name(const util::EnvSnapshot& env);

/// Returns "CLUSTER-JOB", where `first_job` names the first job of the training; empty without a job. A value
/// that the user has set takes precedence.
std::string make_run_id(const util::EnvSnapshot& env, const std::string& first_job);

} // namespace hpcml::slurm
