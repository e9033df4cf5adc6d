// SPDX-License-Identifier: MIT
// The CPUs of this process: what the kernel allows, what srun has bound, and setting them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/launch/launch_request.hpp"

namespace hpcml::launch {

/// Returns the CPUs of this process from /proc/self/status (Cpus_allowed_list), for reports.
util::Result<model::IdSet> read_status_cpus();

/// Who binds this rank, and with which CPUs the plan is to be made.
struct BindDecision {
  BindMode mode = BindMode::none; ///< apply, verify or none: automatic is decided
  model::IdSet plan_from;         ///< CPUs to plan with
  bool owns_node = false;
  std::string why;
};

/// Decides from the mask of this process. `node`: all CPUs of the node that jobs may use. If srun gave each
/// task its own mask, nothing is applied: slices of a slice would leave most cores idle. Pure.
BindDecision decide_binding(BindMode requested, const model::IdSet& mask, const model::IdSet& node,
                            const util::EnvSnapshot& env, unsigned local_world_size);

/// True if SLURM_CPU_BIND_LIST holds different masks for the tasks of this node. Pure.
bool bound_by_srun(const util::EnvSnapshot& env);

/// Sentences about the differences between the mask and the plan; empty when they agree. Pure.
std::vector<std::string> compare_masks(const model::IdSet& mask, const model::IdSet& planned);

/// Binds this process (and what it execs) to `cpus`; the error says what the kernel allows instead.
util::Status apply_affinity(const model::IdSet& cpus);

/// Prefers memory of the NUMA nodes `nodes`, if there are any. A missing permission is not an error: the
/// kernel's default prefers the local node as well.
void prefer_memory(const model::IdSet& nodes);

} // namespace hpcml::launch
