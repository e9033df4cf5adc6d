// SPDX-License-Identifier: MIT
// Deals the cores of pools out to claims: which pool, which slice, and what a short rank gets from elsewhere.
#pragma once

#include <optional>
#include <vector>

#include "core/topo/core_pool.hpp"

namespace hpcml::topo {

/// Cores that a rank gets from a pool that none of its claims is in.
struct BorrowedCores {
  std::size_t pool = 0;
  std::vector<UsableCore> cores;
  bool spilled = false; ///< of a NUMA node without GPUs; else because the rank's own domain has no more
};

/// A rank's claim on cores near one of its GPUs (or anywhere, without a GPU).
struct CoreRequest {
  unsigned rank = 0;
  std::optional<std::size_t> gpu = {}; ///< position in the list of GPUs
  unsigned gpu_index = 0;              ///< the GPU's own number: slices of a pool follow it
  std::size_t home = 0;                ///< pool it belongs to
  std::size_t pool = 0;                ///< pool it takes its cores from
  bool bare = false;                   ///< gets no cores: there are none left, and the rank has other claims
  std::vector<UsableCore> cores = {};  ///< its slice
  std::vector<BorrowedCores> spilled = {}; ///< its parts of pools without a request
};

/// The claims of each rank, in their order; every rank has at least one.
std::vector<std::vector<const CoreRequest*>> by_rank(const std::vector<CoreRequest>& claims, unsigned ranks);

/// What one rank gets in total.
struct CoreAllocation {
  std::vector<UsableCore> cores; ///< cores of the rank's slices
  std::vector<BorrowedCores> extras;
  std::size_t size() const;
};

/// Puts every claim into its home while that has a core for it. A claim without one goes to the nearest pool
/// that can still give `need` cores to it and to all that are in it already, else to the one that gives most.
/// Every rank's first claim comes before all others; ranks share cores only when the node has fewer cores
/// than ranks. Where claims are to share whole pools, each stays at home unless its home has no core at all.
void assign_pools(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools, std::size_t need,
                  bool share_whole);

/// Each pool's cores in contiguous near-equal slices, one per claim in it, in the order of the GPUs' numbers.
void slice_pools(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools);

/// Assigns each pool of a NUMA node without a request to the requests of one pool of its package: the pool
/// with the fewest cores per request, then the nearest.
void assign_idle_pools(std::vector<CoreRequest>& claims, const std::vector<CorePool>& pools);

/// Returns the first cores of each of a rank's slices, distributed evenly, `wanted` in total (0: every core);
/// then cores of idle pools that are assigned to it, then free cores of the nearest pools for the ranks that
/// have too few, evenly if there are not enough.
std::vector<CoreAllocation> allocate_cores(const std::vector<CoreRequest>& claims,
                                           const std::vector<CorePool>& pools, unsigned ranks,
                                           std::size_t wanted);

} // namespace hpcml::topo
