// SPDX-License-Identifier: MIT
// Compares what a rank has after binding with its plan. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/topo/memory_policy.hpp"
#include "run/resolve/rank_setup.hpp"

namespace hpcml::launch {

/// What the kernel says of this process.
struct ActualBinding {
  model::IdSet cpus;
  std::optional<topo::MemoryPolicy> memory = {}; ///< unset: unknown
};

/// Returns the problems of this rank's binding, one sentence each: CPUs that it may not use, that are far
/// from its GPU, shared with another rank or half a core of it, fewer than those of other ranks, or not the
/// planned or requested ones; memory of other NUMA nodes; a NIC that is not the nearest. `wanted` is the
/// number of requested physical cores, or 0. The other ranks of the node are assumed to be bound as planned.
/// If hpcml binds no rank, they are assumed to be bound like this one outside a job, and are ignored in a
/// job.
std::vector<std::string> check_binding(const RankSetup& setup, const ActualBinding& bound, unsigned wanted);

} // namespace hpcml::launch
