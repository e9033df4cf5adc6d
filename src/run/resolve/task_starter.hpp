// SPDX-License-Identifier: MIT
// Finds what started this process by its ancestors: variables are inherited, also from steps and launchers
// that this process is not a task of. Pure.
#pragma once

#include <string>
#include <vector>

namespace hpcml::launch {

/// The name of the process that starts the tasks of a step.
constexpr const char* k_step_daemon = "slurmstepd";

/// The nearest ancestor of this process that starts tasks.
enum class TaskStarter {
  unknown,   ///< not known: another PID namespace, another launcher, or no job
  task,      ///< slurmstepd's task, with nothing but shells between
  below,     ///< below a task of a step, with other programs between
  component, ///< the same two, in a step of several components (srun A : B)
  script,    ///< the batch script, or the shell of salloc on a node: no task, whatever the variables say
  mpi,       ///< mpirun or one of its daemons
};

/// Finds the starter of this process among its ancestors. `job` is SLURM_JOB_ID, because the script of
/// another job does not count. The name of slurmstepd is its title ("slurmstepd: [123.4+1]").
TaskStarter evaluate_ancestors(const std::vector<std::string>& names, const std::string& job);

} // namespace hpcml::launch
