// SPDX-License-Identifier: MIT
#include "core/topo/placement_findings_by_device.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace hpcml::topo {

std::string address_of(const Node& node, const Gpu& gpu) {
  const auto same_place = [&](const Gpu& candidate) { return candidate.place.pci == gpu.place.pci; };
  const bool cut =
      !gpu.place.pci.empty() && std::count_if(node.gpus.begin(), node.gpus.end(), same_place) > 1;
  return gpu.place.pci + (cut ? fmt::format(" part {}", gpu.partition) : "");
}

PlacementFindingsByDevice::PlacementFindingsByDevice(const Node& node, const std::vector<PlacedRank>& seen)
    : x_node(node), x_seen(seen) {
  for (const auto& finding : check_placement(node, seen).findings)
    if (finding.wrong) x_findings.push_back(finding);
}

template <class Fits> std::string PlacementFindingsByDevice::texts(const Fits& fits) const {
  std::string text;
  for (const auto& finding : x_findings) {
    const auto rank = std::find_if(x_seen.begin(), x_seen.end(),
                                   [&](const PlacedRank& placed) { return placed.rank == finding.rank; });
    if (rank != x_seen.end() && fits(finding, *rank))
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(finding.rank) + ": " + finding.text;
  }
  return text;
}

std::string PlacementFindingsByDevice::gpu(unsigned index) const {
  return texts([&](const PlacementFinding& finding, const PlacedRank& rank) {
    return (finding.kind == PlacementFault::remote || finding.kind == PlacementFault::partly_remote) &&
           std::find(rank.gpus.begin(), rank.gpus.end(), index) != rank.gpus.end();
  });
}

std::string PlacementFindingsByDevice::nic(const std::string& name) const {
  return texts([&](const PlacementFinding& finding, const PlacedRank& rank) {
    return finding.kind == PlacementFault::remote_nic && rank.nic == name;
  });
}

bool PlacementFindingsByDevice::takes_wrongly(const PlacedRank& rank, unsigned numa) const {
  if (!rank.memory || !rank.memory->nodes.contains(numa)) return false;
  // A NUMA node of the rank's own CPUs is right, also where others in the list are not.
  return std::none_of(x_node.cpus.numa.begin(), x_node.cpus.numa.end(), [&](const auto& domain) {
    return domain.id == numa && domain.cpus.intersects(rank.cpus);
  });
}

std::string PlacementFindingsByDevice::memory(unsigned numa) const {
  return texts([&](const PlacementFinding& finding, const PlacedRank& rank) {
    return finding.kind == PlacementFault::remote_memory && takes_wrongly(rank, numa);
  });
}

std::vector<unsigned> PlacementFindingsByDevice::users_of_memory(unsigned numa) const {
  std::vector<unsigned> users;
  for (const auto& finding : x_findings)
    for (const auto& rank : x_seen)
      if (finding.kind == PlacementFault::remote_memory && finding.rank == rank.rank &&
          takes_wrongly(rank, numa))
        users.push_back(rank.rank);
  return users;
}

} // namespace hpcml::topo
