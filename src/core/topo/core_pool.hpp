// SPDX-License-Identifier: MIT
// Usable cores of a node and the pools (L3, NUMA node, whole node) they are dealt out from.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/topo/affinity.hpp"

namespace hpcml::topo {

/// A core that may be used: only the hardware threads that are handed out.
struct UsableCore {
  model::IdSet threads;
};

/// Cores with at least one allowed thread and none reserved, by their lowest CPU; each with its first
/// `threads_per_core` allowed threads. An empty `allowed` means every CPU.
std::vector<UsableCore> usable_cores(const model::CpuShape& shape, const model::IdSet& allowed,
                                     unsigned threads_per_core);

/// Cores that are dealt out together: those of one domain, or of the node.
struct CorePool {
  PoolLevel level = PoolLevel::node;
  unsigned id = 0;
  std::string name;                ///< "L3 6 of NUMA 3", "NUMA 3", "the node"
  std::vector<UsableCore> cores;   ///< ascending; NUMA node by NUMA node for the whole node
  model::IdSet reserved;           ///< first threads of its reserved cores
  std::optional<unsigned> numa;    ///< the NUMA node it is in
  std::optional<unsigned> package; ///< the package it is in
};

/// One pool per domain, and one more for the cores that are in none.
std::vector<CorePool> make_pools(PoolLevel level, const std::vector<model::CpuDomain>& domains,
                                 const model::CpuShape& shape, const std::vector<UsableCore>& cores);
/// One pool for the whole node.
CorePool make_node_pool(const model::CpuShape& shape, const std::vector<UsableCore>& cores);

/// The pool nearest to `home` that `accept` takes: itself, the same NUMA node, the same package, then the
/// smallest difference of ids, then the lowest id.
std::optional<std::size_t> nearest_pool(const std::vector<CorePool>& pools, std::size_t home,
                                        const std::function<bool(std::size_t)>& accept);

/// Part `index` of `cores` split into `parts` contiguous near-equal slices, larger ones first; the last ones
/// are empty where there are fewer cores than parts.
std::vector<UsableCore> slice_of(const std::vector<UsableCore>& cores, std::size_t index, std::size_t parts);
/// The same, but with fewer cores than parts each part gets one core and some share it.
std::vector<UsableCore> shared_slice_of(const std::vector<UsableCore>& cores, std::size_t index,
                                        std::size_t parts);

} // namespace hpcml::topo
