// SPDX-License-Identifier: MIT
// Who binds the ranks of a node to CPUs, srun or launch, and how a mask differs from the plan. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/util/env_snapshot.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::launch {

/// Who binds this rank, and with which CPUs the plan is to be made.
struct BindDecision {
  BindMode mode = BindMode::none; ///< apply, verify or none: automatic is decided
  model::IdSet plan_from;         ///< CPUs to plan with
  bool owns_node = false;
  std::string why;
};

/// Decides from the mask of this process. `node`: all CPUs of the node that jobs may use. If srun gave each
/// task its own mask, nothing is applied: slices of a slice would leave most cores idle.
BindDecision decide_binding(BindMode requested, const model::IdSet& mask, const model::IdSet& node,
                            const util::EnvSnapshot& env, unsigned local_world_size);

/// True if SLURM_CPU_BIND_LIST holds different masks for the tasks of this node.
bool bound_by_srun(const util::EnvSnapshot& env);

/// Sentences about the differences between the mask and the plan; empty when they agree.
std::vector<std::string> compare_masks(const model::IdSet& mask, const model::IdSet& planned);

} // namespace hpcml::launch
