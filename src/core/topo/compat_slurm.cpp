// SPDX-License-Identifier: MIT
// Slurm's own placement: task/affinity's core binding in block:cyclic or block:block distribution, and
// --gpu-bind=closest, which hands out every GPU whose CPUs overlap the task's.
#include <algorithm>
#include <fmt/format.h>

#include "core/topo/compat_rules.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

/// What Slurm calls sockets, as lists of cores with the threads that the allocation has.
std::vector<std::vector<IdSet>> read_sockets(const Node& node, const ThirdPartyAffinityRequest& request) {
  const auto& level = request.l3_as_socket && !node.cpus.l3.empty() ? node.cpus.l3 : node.cpus.packages;
  std::vector<CpuDomain> domains = level;
  if (domains.empty()) domains.push_back({0, node.cpus.all()});
  const IdSet seen = seen_cpus(node, request);
  std::vector<std::vector<IdSet>> sockets;
  for (const CpuDomain& domain : domains) {
    std::vector<IdSet> cores;
    for (const IdSet& core : node.cpus.core_threads) {
      if (!core.intersects(domain.cpus) || core.intersects(node.cpus.reserved)) continue;
      IdSet threads;
      for (unsigned cpu : (core & seen).ids())
        if (threads.size() < std::max(1u, request.threads_per_core)) threads.add(cpu);
      if (!threads.empty()) cores.push_back(threads);
    }
    std::sort(cores.begin(), cores.end(),
              [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    if (!cores.empty()) sockets.push_back(std::move(cores));
  }
  return sockets;
}

/// Takes cores from the socket in turn, then from those after it.
IdSet take_cores(std::vector<std::vector<IdSet>>& sockets, std::size_t socket, std::size_t count) {
  IdSet cpus;
  for (std::size_t step = 0; step < sockets.size() && count > 0; ++step) {
    auto& cores = sockets[(socket + step) % sockets.size()];
    while (count > 0 && !cores.empty()) {
      cpus = cpus | cores.front();
      cores.erase(cores.begin());
      --count;
    }
  }
  return cpus;
}

std::vector<IdSet> distribute(const Node& node, const ThirdPartyAffinityRequest& request) {
  std::vector<std::vector<IdSet>> sockets = read_sockets(node, request);
  std::vector<IdSet> masks;
  if (sockets.empty()) return masks;
  // Without -c as many tasks as sockets are bound to sockets.
  if (request.cpus_per_rank == 0 && request.ranks == sockets.size()) {
    for (const auto& cores : sockets) {
      IdSet cpus;
      for (const IdSet& core : cores) cpus = cpus | core;
      masks.push_back(cpus);
    }
    return masks;
  }
  const unsigned threads = std::max(1u, request.threads_per_core);
  const std::size_t cores = (std::max(1u, request.cpus_per_rank) + threads - 1) / threads;
  std::size_t socket = 0;
  for (unsigned task = 0; task < request.ranks; ++task) {
    if (request.block_cores)
      while (socket + 1 < sockets.size() && sockets[socket].size() < cores) ++socket;
    else
      for (std::size_t step = 0; step < sockets.size() && sockets[socket].size() < cores; ++step)
        socket = (socket + 1) % sockets.size();
    masks.push_back(take_cores(sockets, socket, cores));
    if (!request.block_cores) socket = (socket + 1) % sockets.size();
  }
  return masks;
}

IdSet local_cpus(const Node& node, const Gpu& gpu) {
  if (gpu.place.l3)
    if (const auto* l3 = find_domain(node.cpus.l3, *gpu.place.l3)) return l3->cpus;
  if (gpu.place.numa)
    if (const auto* numa = find_domain(node.cpus.numa, *gpu.place.numa)) return numa->cpus;
  return gpu.cpus.empty() ? node.cpus.all() : gpu.cpus; // gres.conf without Cores: near to all
}

} // namespace

util::Result<ThirdPartyAffinityPlan> plan_like_slurm(const Node& node,
                                                     const ThirdPartyAffinityRequest& request) {
  ThirdPartyAffinityPlan plan;
  const std::vector<IdSet> masks = distribute(node, request);
  for (unsigned rank = 0; rank < request.ranks; ++rank) {
    if (rank >= masks.size() || masks[rank].empty())
      return util::Error{fmt::format("srun would fail: no cores are left for task {}", rank),
                         "use fewer --ranks, or a lower --cpus-per-rank"};
    std::vector<unsigned> gpus;
    for (const Gpu& gpu : node.gpus)
      if (local_cpus(node, gpu).intersects(masks[rank])) gpus.push_back(gpu.place.index);
    add_rank(plan, node, rank, gpus, masks[rank], "every GPU whose CPUs overlap the task's");
  }
  return plan;
}

} // namespace hpcml::topo
