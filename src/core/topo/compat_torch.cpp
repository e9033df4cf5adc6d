// SPDX-License-Identifier: MIT
// torchrun --numa-binding (torch/numa/binding.py, PyTorch 2.9 to 2.13): one GPU per worker, by its NUMA node.
#include <algorithm>
#include <fmt/format.h>

#include "core/topo/compat_rules.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

util::Error no_numa(unsigned numa) {
  return {fmt::format("torchrun would fail: NUMA node {} has no usable CPU", numa)};
}

/// Position of the rank's GPU among the node's GPUs on the same NUMA node, and how many those are.
std::pair<std::size_t, std::size_t> place_among(const Node& node, unsigned rank, unsigned numa) {
  std::size_t before = 0, count = 0;
  for (const Gpu& gpu : node.gpus) {
    if (numa_or_zero(gpu) != numa) continue;
    ++count;
    before += gpu.place.index < rank ? 1 : 0;
  }
  return {before, count};
}

util::Result<IdSet> exclusive_cpus(const Node& node, unsigned rank, unsigned numa, const IdSet& local) {
  std::vector<IdSet> cores;
  for (const IdSet& core : node.cpus.core_threads)
    if (core.intersects(local)) cores.push_back(core);
  std::sort(cores.begin(), cores.end(), [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
  const auto [index, gpus] = place_among(node, rank, numa);
  const std::size_t each = cores.size() / gpus, larger = cores.size() % gpus;
  if (each == 0)
    return util::Error{
        fmt::format("torchrun would fail: NUMA node {} has {} cores for {} GPUs, but each GPU needs one",
                    numa, cores.size(), gpus),
        "use --policy torch-node, or more CPUs with --allowed"};
  IdSet cpus;
  const std::size_t begin = index * each + std::min(index, larger);
  for (std::size_t i = begin; i < begin + each + (index < larger ? 1 : 0); ++i)
    cpus = cpus | (cores[i] & local);
  return cpus;
}

IdSet core_complex_cpus(const Node& node, unsigned rank, unsigned numa, const IdSet& local) {
  std::vector<IdSet> groups;
  for (const CpuDomain& l3 : node.cpus.l3)
    if (l3.cpus.intersects(local)) groups.push_back(l3.cpus & local);
  if (groups.empty()) // without an L3 each core's own cache is its highest
    for (const IdSet& core : node.cpus.core_threads)
      if (core.intersects(local)) groups.push_back(core & local);
  std::sort(groups.begin(), groups.end(), [](const IdSet& a, const IdSet& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.first() < b.first();
  });
  return groups[place_among(node, rank, numa).first % groups.size()];
}

IdSet socket_cpus(const Node& node, const IdSet& local, const IdSet& seen) {
  for (const CpuDomain& package : node.cpus.packages) {
    if (!package.cpus.contains(local.first())) continue;
    IdSet cpus;
    for (const CpuDomain& numa : node.cpus.numa)
      if (numa.cpus.intersects(package.cpus)) cpus = cpus | (numa.cpus & seen);
    return cpus;
  }
  return local;
}

} // namespace

util::Result<ThirdPartyAffinityPlan> plan_like_torch(const Node& node,
                                                     const ThirdPartyAffinityRequest& request) {
  ThirdPartyAffinityPlan plan;
  const IdSet seen = seen_cpus(node, request);
  for (unsigned rank = 0; rank < request.ranks; ++rank) {
    const auto gpu =
        std::find_if(node.gpus.begin(), node.gpus.end(), [&](const Gpu& g) { return g.place.index == rank; });
    if (gpu == node.gpus.end())
      return util::Error{
          fmt::format("torchrun would fail: local rank {0} needs GPU {0}, which the node does not have",
                      rank),
          "use --ranks with at most one rank per GPU, or --policy hpcml"};
    const unsigned numa = numa_or_zero(*gpu);
    const CpuDomain* domain = find_domain(node.cpus.numa, numa);
    const IdSet local = domain ? domain->cpus & seen : IdSet();
    if (local.empty()) return no_numa(numa);
    IdSet cpus = local;
    if (request.policy == "torch-socket") cpus = socket_cpus(node, local, seen);
    if (request.policy == "torch-core-complex") cpus = core_complex_cpus(node, rank, numa, local);
    if (request.policy == "torch-exclusive") {
      TRY(cpus, exclusive_cpus(node, rank, numa, local));
    }
    add_rank(plan, node, rank, {rank}, cpus, fmt::format("GPU {} is on NUMA {}", rank, numa));
  }
  return plan;
}

} // namespace hpcml::topo
