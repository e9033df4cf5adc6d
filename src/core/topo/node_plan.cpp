// SPDX-License-Identifier: MIT
// Planning for a whole node: which GPUs in which order, then the planner, then NIC and memory.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "core/topo/affinity.hpp"
#include "core/topo/mask_text.hpp"
#include "core/topo/nearest_nic.hpp"
#include "core/topo/rank_order.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

/// Whether `wanted` names each GPU; an error where it names none or several PCI functions.
util::Result<std::vector<bool>> named_gpus(const Node& node, const std::string& wanted) {
  std::vector<bool> named(node.gpus.size(), false);
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < node.gpus.size(); ++i) {
    const Gpu& gpu = node.gpus[i];
    named[i] = pci_matches(gpu.place.pci, wanted) || (!gpu.uuid.empty() && gpu.uuid == wanted);
    if (named[i]) util::add_once(addresses, gpu.place.pci);
  }
  if (addresses.empty())
    return util::Error{fmt::format("the node has no GPU at {} (PCI address or UUID)", wanted),
                       "run hpcml affinity to list the GPUs of a node"};
  if (addresses.size() > 1)
    return util::Error{fmt::format("'{}' is part of the PCI addresses of several GPUs: {}", wanted,
                                   util::join(addresses, " and ")),
                       fmt::format("use the whole PCI address, such as {}", addresses.front())};
  return named;
}

/// The links between the visible GPUs in the step's numbers; the node's are in its own.
std::vector<GpuLink> visible_links(const Node& node, const std::vector<Gpu>& gpus) {
  std::map<unsigned, unsigned> visible;
  for (const Gpu& gpu : gpus)
    for (const Gpu& own : node.gpus)
      if (own.place.pci == gpu.place.pci && own.partition == gpu.partition && own.uuid == gpu.uuid &&
          (!own.place.pci.empty() || own.place.index == gpu.place.index))
        visible[own.place.index] = gpu.place.index;
  return renumber_links(node.links, visible);
}

util::Result<std::vector<Gpu>> in_rank_order(const Node& node, const std::vector<Gpu>& gpus,
                                             const model::GpuOrder& order) {
  std::vector<RankGpuOrderKey> wanted;
  for (const Gpu& gpu : gpus) {
    const auto lowest = lowest_cpu(node.cpus, gpu.place);
    wanted.push_back({gpu.place.index, lowest.value_or(gpu.cpus.empty() ? 0 : gpu.cpus.first())});
  }
  TRY(const auto positions,
      find_rank_order(wanted,
                      order.kind == model::GpuOrderKind::ring ? visible_links(node, gpus)
                                                              : std::vector<GpuLink>{},
                      order));
  std::vector<Gpu> ordered;
  for (const auto position : positions) ordered.push_back(gpus[position]);
  return ordered;
}

/// Nodes that a rank's memory should come from: those of its CPUs that have memory, else the nearest that
/// has.
IdSet memory_nodes(const Node& node, const IdSet& cpus) {
  IdSet nodes;
  const NumaNode* first = nullptr;
  for (const NumaNode& numa : node.numa) {
    if (!numa.cpus.intersects(cpus)) continue;
    if (!first) first = &numa;
    if (numa.kind == NumaMemoryOwner::cpu) nodes.add(numa.id);
  }
  if (!nodes.empty() || !first) return nodes;
  const auto package = [&](const NumaNode& numa) {
    for (const CpuDomain& domain : node.cpus.packages)
      if (domain.cpus.intersects(numa.cpus)) return domain.id;
    return 0u;
  };
  std::optional<std::tuple<bool, unsigned, unsigned>> best;
  for (const NumaNode& numa : node.numa) {
    if (numa.kind != NumaMemoryOwner::cpu) continue;
    const unsigned gap = numa.id > first->id ? numa.id - first->id : first->id - numa.id;
    const auto key = std::make_tuple(package(numa) != package(*first), gap, numa.id);
    if (!best || key < *best) best = key;
  }
  if (best) nodes.add(std::get<2>(*best));
  return nodes;
}

std::vector<model::GpuLocality> places_of(const std::vector<Gpu>& gpus) {
  std::vector<model::GpuLocality> places;
  places.reserve(gpus.size());
  for (const Gpu& gpu : gpus) places.push_back(gpu.place);
  return places;
}

/// Without CPUs the GPUs' NUMA nodes are all that is known.
AffinityPlan plan_places(const std::vector<Gpu>& gpus, const AffinityRequest& request) {
  // One core per NUMA node represents unknown CPUs, so that GPUs are assigned as usual.
  model::CpuShape shape;
  shape.core_threads.push_back(IdSet::of({0}));
  AffinityPlan plan = plan_affinity(shape, places_of(gpus), request);
  for (auto& rank : plan.ranks) {
    rank.cpus = rank.numa = rank.memory = {};
    rank.cores = 0;
    for (const Gpu& gpu : gpus)
      if (gpu.place.numa && std::find(rank.gpus.begin(), rank.gpus.end(), gpu.place.index) != rank.gpus.end())
        rank.numa.add(*gpu.place.numa);
    rank.memory = rank.numa;
    rank.why = rank.numa.empty()
                   ? "this node's CPUs are not known"
                   : fmt::format("NUMA {} of its GPU; the node's CPUs are not known", rank.numa.to_list());
  }
  plan.warnings = {"the node's CPUs are not known: only NUMA nodes are planned"};
  return plan;
}

void add_memory(const Node& node, model::PlannedRankBinding& rank) {
  rank.memory = memory_nodes(node, rank.cpus);
  if (!rank.memory.empty() && !(rank.memory == rank.numa))
    rank.why += fmt::format("; memory of NUMA {}, because its own nodes have none", rank.memory.to_list());
}

} // namespace

util::Result<std::vector<Gpu>> visible_gpus(const Node& node, const std::vector<std::string>& visible) {
  if (visible.empty()) return node.gpus;
  std::vector<bool> seen(node.gpus.size(), false);
  for (const std::string& wanted : visible) {
    TRY(const auto named, named_gpus(node, wanted));
    for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = seen[i] || named[i];
  }
  std::vector<Gpu> gpus;
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i]) {
      gpus.push_back(node.gpus[i]);
      gpus.back().place.index = static_cast<unsigned>(gpus.size() - 1);
    }
  return gpus;
}

util::Result<Node> with_visible_gpus(Node node, const std::vector<std::string>& visible) {
  TRY(auto gpus, visible_gpus(node, visible));
  node.links = visible_links(node, gpus);
  node.gpus = std::move(gpus);
  return node;
}

util::Result<std::vector<std::string>> listed_gpus(const Node& node, const std::string& list) {
  std::vector<std::string> uuids, addresses;
  for (const Gpu& gpu : node.gpus) uuids.push_back(gpu.uuid);
  const std::vector<std::string> entries = util::split(list, ',');
  for (unsigned i = 0; i < entries.size(); ++i) {
    const auto index = resolve_visible(list, i, uuids);
    const auto gpu = std::find_if(node.gpus.begin(), node.gpus.end(),
                                  [&](const Gpu& g) { return index && g.place.index == *index; });
    if (gpu == node.gpus.end())
      return util::Error{fmt::format("'{}' in the list of visible GPUs is not one of the node's {} GPUs",
                                     util::trim(entries[i]), node.gpus.size()),
                         "remove it from the list: programs would ignore this and all later GPUs silently"};
    addresses.push_back(gpu->place.pci);
  }
  return addresses;
}

util::Result<AffinityPlan> plan_affinity(const Node& node, const AffinityRequest& request) {
  TRY(const auto visible, visible_gpus(node, request.visible));
  TRY(const auto gpus, in_rank_order(node, visible, request.order));
  AffinityRequest inner = request;
  if (inner.allowed.empty())
    inner.allowed = node.allowed;
  else if (!node.allowed.empty())
    inner.allowed = inner.allowed & node.allowed;
  if (!node.allowed.empty() && inner.allowed.empty())
    return util::Error{"none of the requested CPUs is allowed on this node",
                       fmt::format("use CPUs of the list {} in --allowed", node.allowed.to_list())};
  if (node.cpus.core_threads.empty()) return plan_places(gpus, inner);
  AffinityPlan plan = plan_affinity(node.cpus, places_of(gpus), inner);
  const std::vector<NicChoice> choices = nearest_nics(visible, node.nics);
  for (auto& rank : plan.ranks) {
    add_memory(node, rank);
    if (rank.gpus.empty()) continue;
    for (std::size_t i = 0; i < visible.size(); ++i)
      if (visible[i].place.index == rank.gpus.front() && !choices[i].nic.empty()) {
        rank.nic = choices[i].nic;
        rank.why += "; NIC " + choices[i].nic + ": " + choices[i].why;
      }
  }
  return plan;
}

} // namespace hpcml::topo
