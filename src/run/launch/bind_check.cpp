// SPDX-License-Identifier: MIT
#include "run/launch/bind_check.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/topo/check_placement.hpp"

namespace hpcml::launch {

std::vector<std::string> check_binding(const RankSetup& setup, const ActualBinding& bound, unsigned wanted) {
  std::vector<std::string> faults;
  const NodeSetup& node = *setup.node;
  const auto& cpus = bound.cpus;
  const auto& mine = setup.plan.binding;
  std::vector<topo::PlacedRank> planned;
  for (const auto& rank : node.plan.ranks)
    planned.push_back({rank.local_rank, rank.gpus, rank.cpus, rank.nic});
  const unsigned local = setup.world.layout.local_rank;
  if (local >= planned.size()) return {"no CPU core of this node is left for the rank"};
  auto real = planned;
  // Ranks that are not bound have what this process was started with, where it started all of them.
  if (node.binding.mode == BindMode::none)
    for (auto& placed : real) placed.cpus = setup.world.in_job ? model::IdSet() : node.mask;
  real[local].cpus = cpus;
  real[local].memory = bound.memory;
  const auto of_plan = topo::check_placement(node.plan.node, planned).findings;
  const auto planned_so = [&](topo::PlacementFault kind) {
    return std::any_of(of_plan.begin(), of_plan.end(),
                       [&](const auto& finding) { return finding.kind == kind && finding.rank == local; });
  };
  // Sharing and unevenness that the plan has itself were its best choice; what is wrong stays wrong.
  for (const auto& finding : topo::check_placement(node.plan.node, real).findings)
    if (finding.rank == local && (finding.wrong || !planned_so(finding.kind))) faults.push_back(finding.text);
  if (node.binding.mode != BindMode::none && !mine.cpus.empty() && !(mine.cpus == cpus))
    faults.push_back(
        fmt::format("the rank has CPUs {}, but hpcml planned CPUs {}", cpus.to_list(), mine.cpus.to_list()));
  for (const auto& variable : setup.plan.env)
    if (const auto set = setup.env.get(variable.name);
        variable.name == "UCX_NET_DEVICES" && set && *set != variable.value)
      faults.push_back(fmt::format("UCX_NET_DEVICES={}, but the NIC nearest to the rank's GPU is {}", *set,
                                   variable.value));
  std::size_t cores = 0;
  for (const auto& core : node.cpus.core_threads) cores += core.intersects(cpus) ? 1 : 0;
  if (cores < wanted)
    faults.push_back(fmt::format("the rank has only {} of {} requested cores", cores, wanted));
  return faults;
}

} // namespace hpcml::launch
