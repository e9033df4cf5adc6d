// SPDX-License-Identifier: MIT
// The world of ranks that this process belongs to, and where they meet.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launch/request.hpp"
#include "slurm/step_env.hpp"
#include "util/result.hpp"

namespace hpcml::launch {

/// Place of one rank and the meeting point of all.
struct World {
  slurm::StepLayout layout;
  slurm::StepIdentity identity;
  bool in_job = false;     ///< started by Slurm or the site's launcher; false: this machine alone
  std::string first_node;  ///< rank 0's, by its name in the step
  std::string address;     ///< MASTER_ADDR
  unsigned port = 0;       ///< MASTER_PORT
  bool port_given = false; ///< it was asked for: by a flag, or by MASTER_PORT
};

/// The world of a task that becomes one rank. Variables like RANK or MASTER_ADDR that are set already must
/// agree; the error names each that does not.
util::Result<World> find_task_world(const LaunchRequest& request, const Surroundings& here);

/// The world of the first of `processes` ranks that this process is to start on its node: one task per node,
/// or no Slurm.
util::Result<World> find_spawn_world(const LaunchRequest& request, const Surroundings& here,
                                     unsigned processes);

/// The same world seen by local rank `local_rank` of this node.
World world_of_local_rank(const World& first, unsigned local_rank);

/// RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, NODE_RANK, GROUP_RANK, MASTER_ADDR, MASTER_PORT.
std::vector<std::pair<std::string, std::string>> rank_variables(const World& world);

/// A second port for a process group that is gone before the program starts; the same on all ranks, never
/// `port`. Pure.
unsigned side_port(unsigned port);

} // namespace hpcml::launch
