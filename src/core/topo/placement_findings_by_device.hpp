// SPDX-License-Identifier: MIT
// What a drawing of where ranks are marks as wrong: the devices and memory that findings are about.
#pragma once

#include <string>
#include <vector>

#include "core/topo/check_placement.hpp"

namespace hpcml::topo {

/// The GPU's PCI address, and which of the GPUs there it is where there are several: "0000:c1:00.0 part 2".
/// Empty: not known.
std::string address_of(const Node& node, const Gpu& gpu);

/// Findings by the part of the node that they are about. Each text is empty where nothing is wrong.
class PlacementFindingsByDevice {
public:
  /// `seen` empty: nothing was verified, so nothing is marked.
  PlacementFindingsByDevice(const Node& node, const std::vector<PlacedRank>& seen);

  /// Why the ranks that have this GPU should be elsewhere: "rank 0: none of its CPUs is in NUMA 3 of its
  /// GPU".
  std::string gpu(unsigned index) const;
  /// Why the ranks that have this NIC should take another.
  std::string nic(const std::string& name) const;
  /// Why ranks should not take memory of this NUMA node, and which do.
  std::string memory(unsigned numa) const;
  std::vector<unsigned> users_of_memory(unsigned numa) const;

private:
  bool takes_wrongly(const PlacedRank& rank, unsigned numa) const;
  template <class Fits> std::string texts(const Fits& fits) const;

  const Node& x_node;
  const std::vector<PlacedRank>& x_seen;
  std::vector<PlacementFinding> x_findings; ///< the wrong ones
};

} // namespace hpcml::topo
