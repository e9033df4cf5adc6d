// SPDX-License-Identifier: MIT
// Compares what a rank has after binding with its plan. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/topo/memory_policy.hpp"
#include "run/launch/rank_setup.hpp"

namespace hpcml::launch {

/// What the kernel says of this process.
struct Bound {
  model::IdSet cpus;
  std::optional<topo::MemoryPolicy> memory = {}; ///< unset: unknown
};

/// What is wrong with what this rank has, one sentence each: CPUs outside what it may use, far from its GPU,
/// shared with another rank or half a core of it, fewer than others have, not what was planned or fewer than
/// asked for; memory of other NUMA nodes; a NIC that is not the nearest. `wanted`: physical cores that were
/// asked for, 0 if none were. The other ranks of the node count as they are planned; where nobody binds, as
/// this one was started outside a job, and not at all in one.
std::vector<std::string> check_binding(const RankSetup& setup, const Bound& bound, unsigned wanted);

} // namespace hpcml::launch
