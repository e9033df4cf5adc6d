// SPDX-License-Identifier: MIT
// The CPUs that the processes of a launch share.
#pragma once

#include <optional>

#include "check/job_shape.hpp"

namespace hpcml::check {

/// Returns the CPUs that the launch has: those of a task of its step, or those of the batch step of one task;
/// 0 if they are not known or the processes are not bound to them.
long cpus_of_task(const LintContext& subject, const Launch& launch, const LaunchShape& shape);

/// Returns the number of processes that share the CPUs of a task: those of an agent, or one; nothing if that
/// is not visible.
std::optional<long> processes_of_task(const Launch& launch, const LaunchShape& shape);

/// True if the word is the job's --cpus-per-task by Slurm's variable, with or without a default.
bool is_cpus_per_task(const shell::Argument& word);

} // namespace hpcml::check
