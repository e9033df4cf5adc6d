// SPDX-License-Identifier: MIT
// One function per tool, and what they share.
#pragma once

#include "core/topo/compat.hpp"

namespace hpcml::topo {

/// As torchrun --numa-binding would: the policies "torch-…".
util::Result<ThirdPartyAffinityPlan> plan_like_torch(const Node& node,
                                                     const ThirdPartyAffinityRequest& request);
/// As mpibind would; also how many threads each rank starts.
util::Result<ThirdPartyAffinityPlan> plan_like_mpibind(const Node& node,
                                                       const ThirdPartyAffinityRequest& request);
/// As NVIDIA's gpu_affinity would: the policies "nvidia-…".
util::Result<ThirdPartyAffinityPlan> plan_like_nvidia(const Node& node,
                                                      const ThirdPartyAffinityRequest& request);
/// As Slurm's task/affinity with --gpu-bind=closest would: "slurm-closest".
util::Result<ThirdPartyAffinityPlan> plan_like_slurm(const Node& node,
                                                     const ThirdPartyAffinityRequest& request);

/// What a process would see as its own CPUs.
model::IdSet seen_cpus(const Node& node, const ThirdPartyAffinityRequest& request);
/// NUMA node of a GPU as sysfs gives it, with -1 read as 0.
unsigned numa_or_zero(const Gpu& gpu);
/// Adds a rank with these CPUs; cores and NUMA nodes follow from them.
void add_rank(ThirdPartyAffinityPlan& plan, const Node& node, unsigned rank, std::vector<unsigned> gpus,
              const model::IdSet& cpus, const std::string& why);

} // namespace hpcml::topo
