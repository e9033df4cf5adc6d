// SPDX-License-Identifier: MIT
// Everything one rank gets, decided before anything is done: environment, CPUs, GPUs, caches.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launch/cpu_bind.hpp"
#include "launch/gpus.hpp"
#include "launch/request.hpp"
#include "launch/world.hpp"
#include "model/node_shape.hpp"
#include "plan/rank_plan.hpp"
#include "topo/live_node.hpp"
#include "util/result.hpp"

namespace hpcml::launch {

/// What this node and this process have.
struct NodeView {
  model::CpuShape cpus;
  model::IdSet mask;                     ///< CPUs of this process
  topo::LiveGpus gpus;                   ///< all that the node's drivers show
  topo::NearNics nics;                   ///< near these
  std::vector<topo::GpuLink> links = {}; ///< between them, where the ranks are to follow the links
  std::vector<std::string>
      interfaces; ///< names of all network interfaces; empty: not known, or no site names any
};
/// This node as the request needs it.
util::Result<NodeView> read_node(const LaunchRequest& request);

/// The decisions for one rank.
struct RankSetup {
  World world;
  bool agent = false;    ///< the command starts the ranks itself (torchrun): it gets the whole node
  util::EnvSnapshot env; ///< complete environment of the program
  std::vector<std::pair<std::string, std::string>> changes; ///< what launch sets, in order, for --dry-run
  std::vector<std::string> removed;                         ///< variables that launch takes away
  BindDecision binding;
  plan::RankPlan plan;
  model::CpuShape cpus;
  model::IdSet mask;                   ///< before binding
  std::string gpus;                    ///< for people: "0,1" or "none"
  std::vector<std::string> interfaces; ///< of the site's, those that this node has; empty: none, or no site
  std::vector<std::string> warnings;   ///< the same for all ranks of a step
  std::vector<std::string> node_warnings; ///< the same for all ranks of this node
};

/// Decides for one rank. The error is about its GPUs.
util::Result<RankSetup> plan_rank_setup(const LaunchRequest& request, const World& world,
                                        const NodeView& node, const util::EnvSnapshot& env);

/// True for commands that start the ranks of a node themselves: torchrun, accelerate, deepspeed,
/// torch.distributed.run.
bool is_agent_command(const std::vector<std::string>& command);

/// `text` with $NAME, ${NAME} and ${NAME:-word} replaced; nothing if it needs a shell (a command, another
/// operator). Pure.
std::optional<std::string> expand_variables(const std::string& text, const util::EnvSnapshot& env);

} // namespace hpcml::launch
