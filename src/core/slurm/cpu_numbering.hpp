// SPDX-License-Identifier: MIT
// Slurm's own numbers of a node's CPUs. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "core/model/node_shape.hpp"

namespace hpcml::slurm {

/// The cores of `cpu` (places in core_threads) in the order in which hwloc, and therefore Slurm, counts them:
/// by package, NUMA node, L3, lowest CPU. Levels that are not known do not matter.
std::vector<std::size_t> core_order(const model::CpuShape& cpu);

/// The system's CPU ids as Slurm numbers them: core by core, the threads of a core in a row. They differ
/// wherever the second hardware threads come after all the first.
model::IdSet to_slurm_cpus(const model::IdSet& ids, const model::CpuShape& cpu);
/// The way back: Slurm's numbers (CPUSpecList) as the system's ids.
model::IdSet to_system_cpus(const model::IdSet& numbers, const model::CpuShape& cpu);

} // namespace hpcml::slurm
