// SPDX-License-Identifier: MIT
// What one rank gets inside the job: the same planning as the script's, from live facts. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/plan.hpp"
#include "model/site.hpp"
#include "topo/nearest_nic.hpp"

namespace hpcml::plan {

/// What the script says of the whole job, so that the same rules of the profile hold. Empty or unset: judged
/// from the live node.
struct JobPromise {
  std::optional<unsigned> gpus_per_node;
  std::string node_type;
  std::string gpu_type;
  std::string qos;
};

/// Facts about this rank and its node, read from the step's variables and the live node.
struct RankFacts {
  unsigned local_rank = 0;
  unsigned world_size = 1;
  unsigned local_world_size = 1;
  unsigned node_count = 1;
  std::string partition; ///< empty if unknown
  bool container = false;
  model::CpuShape live_cpus; ///< from sysfs
  model::IdSet allowed;      ///< CPUs this process may use
  std::vector<model::GpuPlace>
      live_gpus; ///< visible GPUs with their live locality, in rank order; empty: none seen
  std::vector<model::GpuPlace> node_gpus = {};             ///< all GPUs that the node shows, visible or not
  topo::NearNics nics = {};                                ///< the NICs near these
  model::GpuVendor gpu_vendor = model::GpuVendor::unknown; ///< as the node shows it; unknown: the profile's
  bool owns_node = false;                                  ///< the step has all CPUs of the node
  JobPromise job = {};
};

/// What was asked for one rank.
struct RankRequest {
  unsigned gpus_per_rank = 1;
  unsigned cpus_per_rank = 0;                      ///< physical cores; 0: what the slice gives
  std::optional<model::GpusSeen> gpu_visibility;   ///< unset: the site's
  std::optional<unsigned> dataloader_workers = {}; ///< as somebody has set them already
  unsigned threads_per_core = 1;                   ///< hardware threads of each core
  model::CoreSpill spill = model::CoreSpill::none;
};

/// Environment and binding of one rank.
struct RankPlan {
  std::vector<model::PlannedEnv> env; ///< in order; expressions only from the profile
  model::PlannedRankBinding binding;  ///< cpus empty: nothing to bind
  std::vector<model::PlannedCache> caches;
  model::GpusSeen gpu_visibility = model::GpusSeen::all;
  std::string visible_variable;      ///< "ROCR_VISIBLE_DEVICES"/"CUDA_VISIBLE_DEVICES"; empty: leave alone
  std::vector<std::string> warnings; ///< "GPU 3 is not local to the cores …"
  std::vector<std::string>
      node_warnings; ///< where the node and its profile disagree; the same for all ranks of the node
  std::vector<model::PlannedRankBinding> node_ranks; ///< bindings of all ranks of this node
  topo::Node node;                                   ///< what was planned on
};
/// The CPUs of this node that the site keeps, as far as its profile tells; of `facts` only the node and the
/// job's kind count.
model::IdSet reserved_cpus(const model::Site& site, const RankFacts& facts);

/// The plan of one rank from what its node shows.
RankPlan plan_rank(const model::Site& site, const RankFacts& facts, const RankRequest& request);

} // namespace hpcml::plan
