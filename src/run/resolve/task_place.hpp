// SPDX-License-Identifier: MIT
// The place of this task among those that were started with it, and the node of the first one.
#pragma once

#include <string>

#include "core/slurm/step_env.hpp"
#include "core/util/result.hpp"
#include "run/resolve/launch_request.hpp"
#include "run/resolve/node_queries.hpp"
#include "run/resolve/task_starter.hpp"

namespace hpcml::launch {

/// The place of a task, and what distinguishes its start from others.
struct TaskPlace {
  slurm::StepTaskPosition layout;
  slurm::StepIdentity identity;
  std::string first_node;   ///< of the first task, or of node 0
  bool by_launcher = false; ///< an MPI launcher has started it, not srun
};

/// Which node is looked for.
enum class RankZeroNodeRule {
  of_tasks, ///< where task 0 is
  of_nodes, ///< node 0: there rank 0 is where a task of each node starts the ranks
};

/// Who has started this process.
TaskStarter starter_of(const ProcessContext& environment);

/// True if this process is a task of a step (Slurm's or an MPI launcher's).
bool in_task(const LaunchRequest& request, const ProcessContext& environment);

/// Returns the place in Slurm's step, unless a launcher inside it forms another world (ibrun starts one task
/// per node by srun). Asks Slurm if the variables are not sufficient.
util::Result<TaskPlace> find_task_place(const LaunchRequest& request, const ProcessContext& environment,
                                        const NodeQueries& queries, RankZeroNodeRule first);

} // namespace hpcml::launch
