// SPDX-License-Identifier: MIT
// Evaluates where ranks are: what is wrong, what is shared, and how good it is.
#pragma once

#include <string>
#include <vector>

#include "core/topo/memory_policy.hpp"
#include "core/topo/node.hpp"

namespace hpcml::topo {

/// Where one rank is, or is meant to be.
struct PlacedRank {
  unsigned rank = 0;
  std::vector<unsigned> gpus; ///< by index
  model::IdSet cpus;
  std::string nic;                         ///< empty: not known
  std::optional<MemoryPolicy> memory = {}; ///< unset: not known
};

/// What can be wrong with where a rank is.
enum class PlacementFault {
  no_cpus,       ///< the mask is empty or not of this node
  outside,       ///< CPUs that the step may not use
  reserved,      ///< CPUs that the site keeps
  remote,        ///< none of the CPUs is in the domain of the rank's GPU
  partly_remote, ///< some are not
  sibling_split, ///< a core's hardware threads belong to two ranks
  overlap,       ///< CPUs that another rank has as well
  uneven,        ///< fewer cores than other ranks have
  remote_nic,    ///< a NIC nearer to the GPU exists
  remote_memory, ///< memory comes from NUMA nodes without any of the CPUs, or from a GPU's
};

/// "CPU 3", "CPUs 0-7".
std::string cpus_text(const model::IdSet& cpus);

/// "sibling-split": for programs that read reports.
std::string name_of(PlacementFault finding);

/// One thing that is wrong, or worth knowing, about one rank.
struct PlacementFinding {
  PlacementFault kind = PlacementFault::outside;
  unsigned rank = 0;
  std::string text;             ///< "core 48 is reserved"
  std::vector<unsigned> others; ///< ranks it is shared with
  bool wrong = true;            ///< false: worth knowing, not an error (overlap, uneven)
};

/// What a look at all ranks of a node found.
struct PlacementReport {
  std::vector<PlacementFinding> findings; ///< by rank
  std::vector<unsigned> missing;          ///< ranks that were started and do not run
  double score = 1; ///< 0 to 1: part of all CPUs in masks that are allowed, local and the rank's own
  /// Whether anything is wrong with this rank.
  bool wrong(unsigned rank) const;
};

/// Evaluates where the ranks of one node are, or are meant to be, against what the node is made of.
PlacementReport check_placement(const Node& node, const std::vector<PlacedRank>& ranks);

} // namespace hpcml::topo
