// SPDX-License-Identifier: MIT
// The world of ranks that this process belongs to, and its rendezvous endpoint.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/slurm/step_env.hpp"
#include "core/util/result.hpp"
#include "hpcml/rank_label.hpp"
#include "run/resolve/job_channel_key.hpp"
#include "run/resolve/launch_request.hpp"
#include "run/resolve/node_queries.hpp"

namespace hpcml::launch {

/// Facts from the agent that starts the ranks, in addition to their places: torchrun's contract.
struct TorchelasticFacts {
  unsigned restarts = 0; ///< how often all ranks were started again since one failed
  unsigned max_restarts = 0;
  std::string run_id;
  std::string role;            ///< ROLE_NAME
  std::string error_directory; ///< of the attempt: RANK/error.json in it is for a rank's exception
  unsigned serial = 0;         ///< of the attempt: no two of a run have the same
  std::vector<std::pair<std::string, std::string>>
      offered; ///< variables, where the rank has none of that name
};

/// Place of one rank, and the rendezvous endpoint of all.
struct World {
  slurm::StepTaskPosition layout;
  slurm::StepIdentity identity;
  bool in_job = false;      ///< started by Slurm or the site's launcher; false: this machine alone
  bool by_launcher = false; ///< an MPI launcher has started the task, not srun
  std::string first_node;   ///< rank 0's, by its name in the step
  std::string address;      ///< MASTER_ADDR
  unsigned port = 0;        ///< MASTER_PORT
  bool port_given = false;  ///< it was asked for: by a flag, or by MASTER_PORT
  std::optional<TorchelasticFacts> agent = {}; ///< where one has started the rank
  JobChannelKey channel = {};                  ///< by which the launchers of its ranks trust each other
};

/// Returns the place of the layout's rank, for messages.
inline RankLocation location_of(const slurm::StepTaskPosition& layout, const std::string& host) {
  return {layout.rank, layout.world_size, host, static_cast<int>(layout.local_rank)};
}

/// The world of a task that becomes one rank. Variables like RANK or MASTER_ADDR that are set already must
/// agree; the error names each that does not.
util::Result<World> find_task_world(const LaunchRequest& request, const ProcessContext& environment,
                                    const NodeQueries& queries);

/// The world of the first of `processes` ranks that this process is to start on its node: one task per node,
/// or no Slurm.
util::Result<World> find_spawn_world(const LaunchRequest& request, const ProcessContext& environment,
                                     const NodeQueries& queries, unsigned processes);

/// The same world seen by local rank `local_rank` of this node.
World world_of_local_rank(const World& first, unsigned local_rank);

/// RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, NODE_RANK, GROUP_RANK, MASTER_ADDR, MASTER_PORT.
std::vector<std::pair<std::string, std::string>> rank_variables(const World& world);

/// The contract's other variables: ROLE_RANK and the like, TORCHELASTIC_*; none where no agent starts the
/// rank.
std::vector<std::pair<std::string, std::string>> agent_variables(const World& world);

/// Returns the name of the step for launchers and stores: each attempt of an agent has a separate one.
std::string rendezvous_step(const World& world);

} // namespace hpcml::launch
