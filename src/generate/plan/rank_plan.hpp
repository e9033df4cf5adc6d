// SPDX-License-Identifier: MIT
// What the ranks of a node get inside the job: the same planning as the script's, from live facts, once for
// the node and seen by each rank. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/plan.hpp"
#include "core/model/site.hpp"
#include "core/topo/nearest_nic.hpp"
#include "generate/plan/layout.hpp"

namespace hpcml::plan {

/// What the script says of the whole job, so that the same rules of the profile hold. Empty or unset:
/// evaluated from the live node.
struct JobFactsFromScript {
  std::optional<unsigned> gpus_per_node;
  std::string node_type;
  std::string gpu_type;
  std::string qos;
};

/// Facts about the ranks of one node, read from the step's variables and the live node.
struct StepNodeFacts {
  unsigned world_size = 1;
  unsigned local_world_size = 1;
  unsigned node_count = 1;
  std::string partition; ///< empty if unknown
  bool container = false;
  std::string image = {};    ///< container image; empty if there is none or it is unknown
  model::CpuShape live_cpus; ///< from sysfs
  model::IdSet allowed;      ///< CPUs this process may use
  std::vector<model::GpuLocality>
      live_gpus; ///< visible GPUs with their live locality, in rank order; empty: none seen
  std::vector<model::GpuLocality> node_gpus = {};          ///< all GPUs that the node shows, visible or not
  topo::NearestNicPerGpu nics = {};                        ///< the NICs near these
  model::GpuVendor gpu_vendor = model::GpuVendor::unknown; ///< as the node shows it; unknown: the profile's
  bool owns_node = false;                                  ///< the step has all CPUs of the node
  JobFactsFromScript job = {};
};

/// What was asked for each rank.
struct RankOptions {
  unsigned gpus_per_rank = 1;
  unsigned cpus_per_rank = 0;                             ///< physical cores; 0: what the slice gives
  std::optional<model::GpuVisibilityMode> gpu_visibility; ///< unset: the site's
  std::optional<unsigned> dataloader_workers = {};        ///< as already set by the user
  unsigned threads_per_core = 1;                          ///< hardware threads of each core
  model::IdleCorePolicy idle_cores = model::IdleCorePolicy::none;
};

/// A node with all of its ranks, planned once; what one rank sees of it is `plan_rank`.
struct NodePlan {
  std::vector<model::PlannedEnv> env; ///< the same for all ranks, in order; expressions only from the profile
  std::vector<model::PlannedRankBinding> ranks; ///< by local rank, with their NICs; empty: nothing to bind
  std::vector<model::PlannedCache> caches;
  model::GpuVisibilityMode gpu_visibility = model::GpuVisibilityMode::all;
  std::string visible_variable;      ///< "ROCR_VISIBLE_DEVICES"/"CUDA_VISIBLE_DEVICES"; empty: leave alone
  std::vector<std::string> warnings; ///< "GPU 3 is not local to the cores …"
  topo::Node node;                   ///< what was planned on
  topo::NearestNicPerGpu nics;       ///< near its GPUs
  RankOptions request;
  Layout layout; ///< of the whole job, as far as this node and its script show
};

/// Environment and binding of one rank.
struct RankPlan {
  std::vector<model::PlannedEnv> env; ///< the node's, then what is the rank's own
  model::PlannedRankBinding binding;  ///< cpus empty: nothing to bind
  std::vector<std::string> warnings;  ///< the rank's own
};

/// Where the job is that this node works for, with what speaks against the profile's word on such nodes.
/// Only what the node shows and what the script promised count.
PlanStepResult<Placement> place_node(const model::Site& site, const StepNodeFacts& facts);

/// Returns the CPUs of this node that the site reserves, as far as its profile describes them.
model::IdSet reserved_cpus(const Placement& placement, const model::CpuShape& live);

/// The job's numbers and facts: as its script promised them, else as this node shows them.
Layout lay_out_node(const model::Site& site, const Placement& placement, const StepNodeFacts& facts,
                    const RankOptions& request);

/// The plan of a node from what it shows. Its cost grows with the number of ranks, and no faster.
NodePlan plan_node(const model::Site& site, const Placement& placement, const StepNodeFacts& facts,
                   const RankOptions& request);

/// One rank of the node. A rank that the node has no core for gets no binding.
RankPlan plan_rank(const model::Site& site, const NodePlan& node, unsigned local_rank);

} // namespace hpcml::plan
