// SPDX-License-Identifier: MIT
// What the ranks of a node have in common, decided once before anything is done.
#pragma once

#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "generate/plan/rank_plan.hpp"
#include "run/resolve/bind_decision.hpp"
#include "run/resolve/gpus.hpp"
#include "run/resolve/launch_request.hpp"
#include "run/resolve/node_view.hpp"
#include "run/resolve/role.hpp"
#include "run/resolve/store_selection.hpp"

namespace hpcml::launch {

/// The GPUs of the step and what is done with them.
struct StepGpus {
  VisibleGpus found;   ///< as this process finds them
  VisibleGpus visible; ///< in the ranks' order; none where the ranks are to have none
  model::GpuVendor vendor = model::GpuVendor::unknown;
  unsigned per_rank = 0;
  bool cpu_only = false; ///< the ranks are to have none
};

/// The decisions for a node: its ranks differ in what `plan` has for each.
struct NodeSetup {
  World world;           ///< as the first rank of this process sees it
  bool agent = false;    ///< the command starts the ranks itself (torchrun): it gets the whole node
  util::EnvSnapshot env; ///< of this process
  BindDecision binding;
  plan::NodePlan plan;
  model::CpuShape cpus;
  model::IdSet mask; ///< before binding
  StepGpus gpus;
  model::Backend backend = model::Backend::automatic;
  std::vector<std::string> cache_paths = {}; ///< of `plan.caches`, in their order
  StoreSelection store = {};    ///< of a world that needs a rendezvous, in a process that decides on it
  std::uint16_t store_port = 0; ///< of the store that this process serves for ranks that it starts; 0: none
  ProcessLimits limits = {};    ///< that the ranks are to have
  std::vector<std::string> warnings;      ///< the same for all ranks of a step
  std::vector<std::string> node_warnings; ///< the same for all ranks of this node
};

/// Plans the node for all of its ranks. `inner`: the command's own launcher. The error is about the node's
/// GPUs.
util::Result<NodeSetup> plan_node_setup(const LaunchRequest& request, const LaunchRole& role,
                                        const NodeView& node, const util::EnvSnapshot& env,
                                        const InnerLauncher& inner);

} // namespace hpcml::launch
