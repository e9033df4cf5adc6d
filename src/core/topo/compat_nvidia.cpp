// SPDX-License-Identifier: MIT
// NVIDIA's gpu_affinity: cores that the driver calls near a GPU, dealt out among GPUs with the same ones.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/topo/compat_rules.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::IdSet;
using Cores = std::vector<IdSet>;  // cores as sets of CPUs that may be used, ascending
using Groups = std::vector<Cores>; // per core of the NUMA node: itself and the far cores that join it

/// In the order of the cores' lowest hardware threads, also where those may not be used.
Cores cores_in(const Node& node, const IdSet& cpus) {
  std::vector<IdSet> whole = node.cpus.core_threads;
  std::sort(whole.begin(), whole.end(), [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
  Cores cores;
  for (const IdSet& core : whole)
    if (core.intersects(cpus)) cores.push_back(core & cpus);
  return cores;
}

struct Near {
  Cores node, socket;
};

util::Result<std::vector<Near>> read_near(const Node& node, const ThirdPartyAffinityRequest& request) {
  std::vector<Near> near;
  const IdSet seen = seen_cpus(node, request);
  for (unsigned index = 0; index < request.ranks; ++index) {
    const auto gpu = std::find_if(node.gpus.begin(), node.gpus.end(),
                                  [&](const Gpu& g) { return g.place.index == index; });
    if (gpu == node.gpus.end())
      return util::Error{
          fmt::format("gpu_affinity would fail: rank {0} needs GPU {0}, which the node does not have", index),
          "use --ranks with at most one rank per GPU, or --policy hpcml"};
    const auto* numa = find_domain(node.cpus.numa, numa_or_zero(*gpu));
    const auto* package = gpu->place.package ? find_domain(node.cpus.packages, *gpu->place.package) : nullptr;
    const IdSet close = (numa ? numa->cpus : node.cpus.all()) & seen;
    const IdSet far = (package ? package->cpus : close) & seen;
    near.push_back({cores_in(node, close), cores_in(node, far)});
  }
  return near;
}

/// The socket's other cores join the cores near its GPUs in turns.
std::vector<Groups> group_by_node(const std::vector<Near>& near) {
  std::vector<Groups> grouped;
  for (const Near& own : near) {
    Cores assigned;
    for (const Near& near_group : near)
      if (near_group.socket == own.socket)
        for (const IdSet& core : near_group.node)
          if (!util::contains(assigned, core)) assigned.push_back(core);
    std::sort(assigned.begin(), assigned.end(),
              [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    Groups all;
    for (const IdSet& core : assigned) all.push_back({core});
    Cores rest = own.socket;
    std::sort(rest.begin(), rest.end(), [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    std::size_t turn = 0;
    for (const IdSet& core : rest)
      if (!util::contains(assigned, core) && !all.empty()) all[turn++ % all.size()].push_back(core);
    Groups mine;
    for (const IdSet& core : own.node)
      for (const Cores& group : all)
        if (group.front() == core) mine.push_back(group);
    grouped.push_back(std::move(mine));
  }
  return grouped;
}

/// First all cores of the NUMA node, then the cores that joined them, as far as every one has got some.
Cores ungroup(const Groups& groups, bool socket_scope) {
  Cores cores;
  std::size_t rounds = groups.empty() ? 0 : 1;
  if (socket_scope && !groups.empty()) {
    rounds = groups.front().size();
    for (const Cores& group : groups) rounds = std::min(rounds, group.size());
  }
  for (std::size_t round = 0; round < rounds; ++round)
    for (const Cores& group : groups) cores.push_back(group[round]);
  return cores;
}

std::vector<Groups> deal_unique(const std::vector<Groups>& grouped,
                                const ThirdPartyAffinityRequest& request) {
  std::vector<std::vector<std::size_t>> members; // GPUs with equal groups, in order of appearance
  for (std::size_t g = 0; g < grouped.size(); ++g) {
    auto same = std::find_if(members.begin(), members.end(),
                             [&](const auto& m) { return grouped[m.front()] == grouped[g]; });
    if (same == members.end())
      members.push_back({g});
    else
      same->push_back(g);
  }
  std::size_t least = grouped.front().size();
  for (const auto& m : members) least = std::min(least, grouped[m.front()].size() / m.size());
  std::vector<Groups> dealt(grouped.size());
  for (const auto& m : members) {
    Groups cores = grouped[m.front()];
    const std::size_t each = request.balanced ? least : cores.size() / m.size();
    if (request.balanced) cores.resize(m.size() * least);
    for (std::size_t i = 0; i < m.size(); ++i)
      for (std::size_t c = 0; c < cores.size(); ++c)
        if (request.policy == "nvidia-unique-interleaved"
                ? c % m.size() == i
                : c / std::max<std::size_t>(each, 1) == i && each > 0)
          dealt[m[i]].push_back(cores[c]);
  }
  return dealt;
}

std::vector<Groups> deal_single_unique(const std::vector<Groups>& grouped) {
  std::vector<Groups> dealt(grouped.size());
  std::vector<Cores> taken;
  for (std::size_t g = 0; g < grouped.size(); ++g)
    for (const Cores& group : grouped[g])
      if (std::find(taken.begin(), taken.end(), group) == taken.end()) {
        taken.push_back(group);
        dealt[g] = {group};
        break;
      }
  return dealt;
}

/// Mode "all": every core of the scope, those near any GPU first.
std::vector<Cores> deal_all(const std::vector<Near>& near, bool socket_scope) {
  std::vector<Cores> dealt;
  for (const Near& own : near) {
    Cores cores = socket_scope ? own.socket : own.node;
    std::sort(cores.begin(), cores.end(),
              [](const IdSet& a, const IdSet& b) { return a.first() < b.first(); });
    std::stable_partition(cores.begin(), cores.end(), [&](const IdSet& core) {
      return std::any_of(near.begin(), near.end(),
                         [&](const Near& n) { return util::contains(n.node, core); });
    });
    dealt.push_back(std::move(cores));
  }
  return dealt;
}

} // namespace

util::Result<ThirdPartyAffinityPlan> plan_like_nvidia(const Node& node,
                                                      const ThirdPartyAffinityRequest& request) {
  TRY(auto near, read_near(node, request));
  for (const Near& a : near)
    for (const Near& b : near)
      if (a.node != b.node && std::any_of(a.node.begin(), a.node.end(),
                                          [&](const IdSet& core) { return util::contains(b.node, core); }))
        return util::Error{"gpu_affinity would fail: the cores near one GPU overlap with those near another",
                           "use --policy hpcml"};
  const bool single = request.policy == "nvidia-single" || request.policy == "nvidia-single-unique";
  std::vector<Cores> dealt;
  if (request.policy == "nvidia-all") {
    dealt = deal_all(near, request.socket_scope);
  } else {
    std::vector<Groups> grouped = group_by_node(near);
    if (request.policy == "nvidia-single-unique")
      grouped = deal_single_unique(grouped);
    else if (!single)
      grouped = deal_unique(grouped, request);
    for (const Groups& groups : grouped) dealt.push_back(ungroup(groups, request.socket_scope));
  }
  ThirdPartyAffinityPlan plan;
  const std::size_t most = single ? 1 : request.max_cores ? request.max_cores : node.cpus.core_threads.size();
  for (unsigned rank = 0; rank < request.ranks; ++rank) {
    Cores cores = dealt[rank];
    if (cores.size() < std::max(1u, request.min_cores))
      return util::Error{
          fmt::format("gpu_affinity would fail: GPU {} has {} cores near it, but each rank needs at least {}",
                      rank, cores.size(), std::max(1u, request.min_cores)),
          "use a lower --cpus-per-rank, or --policy hpcml"};
    if (cores.size() > most) cores.resize(most);
    IdSet cpus;
    for (const IdSet& core : cores)
      if (request.all_logical)
        cpus = cpus | core;
      else
        cpus.add(core.first());
    add_rank(plan, node, rank, {rank}, cpus, fmt::format("cores that the driver calls near GPU {}", rank));
  }
  return plan;
}

} // namespace hpcml::topo
