// SPDX-License-Identifier: MIT
#include "cli/run/launch_agent.hpp"

#include "core/util/text.hpp"
#include "run/launch/task_place.hpp"

namespace hpcml::cli {
namespace {

using util::Error;

/// The line that starts one agent per node, for a step of this shape.
std::string right_line(const slurm::StepLayout& layout, const util::EnvSnapshot& env) {
  auto ranks = std::to_string(layout.local_world_size);
  if (layout.local_world_size == 1) ranks = env.get_or("SLURM_GPUS_ON_NODE", "RANKS");
  return "srun --ntasks=" + std::to_string(layout.node_count()) +
         " --ntasks-per-node=1 hpcml launch --nproc-per-node " + ranks + " …";
}

/// The nodes of the step, where it is one of agents: one task on each node, which is told how many ranks it
/// starts, and as many nodes as were asked for.
util::Result<unsigned> count_nodes(const launch::LaunchRequest& request,
                                   const launch::RuntimeContext& runtime) {
  const auto wishes = model::wishes_for_agent(request.rank_request);
  TRY(const auto place, launch::find_task_place(request, runtime, launch::FirstNode::of_nodes));
  if (!request.processes_per_node)
    return Error{"with " + wishes + " one agent per node starts the ranks, and this step has " +
                     util::counted(place.layout.local_world_size, "task") +
                     " on this node; without --nproc-per-node each of them would be a rank",
                 "say " + right_line(place.layout, runtime.env)};
  const auto& range = request.rank_request.nnodes;
  const auto nodes = place.layout.node_count();
  if (range && (nodes < range->value.least || nodes > range->value.most))
    return Error{"--nnodes " + range->value.text() + " in a step of " + util::counted(nodes, "node"),
                 "say as many as the step has, or fewer before the colon: --nnodes 1:" +
                     std::to_string(nodes)};
  return nodes;
}

} // namespace

util::Result<agent::AgentRequest> make_agent_request(launch::LaunchRequest launch,
                                                     const launch::RuntimeContext& runtime) {
  const auto& rank_request = launch.rank_request;
  if (auto fault = model::find_contradiction(rank_request)) return std::move(*fault);
  unsigned nodes = 1;
  if (launch::in_task(launch, runtime)) {
    TRY(nodes, count_nodes(launch, runtime));
  } else if (rank_request.nnodes && rank_request.nnodes->value.most > 1) {
    return Error{"--nnodes " + rank_request.nnodes->value.text() +
                     " outside a step of srun: the machines are told of no place where they meet",
                 "in a job: srun --ntasks-per-node=1 hpcml launch …; without Slurm, on each machine: hpcml "
                 "torchrun --nnodes " +
                     rank_request.nnodes->value.text() + " --rdzv-endpoint HOST:PORT …"};
  }
  agent::AgentRequest request;
  request.max_restarts = model::value_or(rank_request.max_restarts, 0U);
  if (const auto seconds = model::value_or(rank_request.stall_timeout, 0U); seconds > 0)
    request.stall_timeout = std::chrono::seconds(seconds);
  const auto heartbeat = model::heartbeat_seconds(rank_request);
  request.heartbeat = {std::chrono::seconds(heartbeat.interval), std::chrono::seconds(heartbeat.timeout)};
  if (rank_request.log_dir) {
    request.log_folder = rank_request.log_dir->value.path;
    launch.output.tee.others = {true, true}; // shown as without an agent, and kept
  }
  if (rank_request.nnodes) {
    request.min_nodes = rank_request.nnodes->value.least;
    request.max_nodes = nodes; // a step of fewer has nobody else to wait for
  }
  request.launch = std::move(launch);
  return request;
}

std::string describe_agent(const agent::AgentRequest& request) {
  std::string text = "# the agent of this node stays with its ranks";
  if (!request.log_folder.empty()) text += "; what they write goes into " + request.log_folder;
  if (request.max_restarts > 0)
    text += "; where one fails all are started again, at most " + util::counted(request.max_restarts, "time");
  if (request.stall_timeout)
    text += "; they are ended after " + std::to_string(request.stall_timeout->count()) +
            " s without a word of any";
  if (request.min_nodes < request.max_nodes)
    text += "; they go on with " + std::to_string(request.min_nodes) + " of " +
            std::to_string(request.max_nodes) + " nodes";
  return text;
}

} // namespace hpcml::cli
