// SPDX-License-Identifier: MIT
#include "run/resolve/bind_decision.hpp"

#include <fmt/format.h>
#include <set>

#include "core/topo/check_placement.hpp"
#include "core/util/text.hpp"

namespace hpcml::launch {

using model::IdSet;

bool bound_by_srun(const util::EnvSnapshot& env) {
  const auto masks = util::split(env.get_or("SLURM_CPU_BIND_LIST", ""), ',');
  return std::set<std::string>(masks.begin(), masks.end()).size() > 1;
}

BindDecision decide_binding(BindMode requested, const IdSet& mask, const IdSet& node,
                            const util::EnvSnapshot& env, unsigned local_world_size) {
  const bool whole = node.is_subset_of(mask);
  const bool own_mask = !whole && bound_by_srun(env);
  switch (requested) {
  case BindMode::none: return {BindMode::none, mask, whole, "not bound"};
  case BindMode::verify: return {BindMode::verify, node, true, "bound by srun, compared with the plan"};
  case BindMode::apply:
    if (own_mask) return {BindMode::verify, node, true, "srun bound each task, and its mask is kept"};
    return {BindMode::apply, mask, whole, "bound by hpcml launch"};
  case BindMode::automatic: break;
  }
  if (own_mask) return {BindMode::verify, node, true, "srun bound each task, and its mask is kept"};
  // One task with part of a node has what the job asked for: there is nothing to divide.
  if (!whole && local_world_size == 1)
    return {BindMode::none, mask, false, "the task has the CPUs that the job requested"};
  return {BindMode::apply, mask, whole, "bound by hpcml launch"};
}

std::vector<std::string> compare_masks(const IdSet& mask, const IdSet& planned) {
  std::vector<std::string> differences;
  if (planned.empty() || mask == planned) return differences;
  const IdSet missing = planned - mask, foreign = mask - planned;
  const auto list = [](const IdSet& cpus) { return cpus.empty() ? std::string("none") : cpus.to_list(); };
  differences.push_back(
      fmt::format("srun bound it to {}, but hpcml planned {} (missing: {}, not planned: {})",
                  topo::cpus_text(mask), topo::cpus_text(planned), list(missing), list(foreign)));
  return differences;
}

} // namespace hpcml::launch
