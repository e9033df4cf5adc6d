// SPDX-License-Identifier: MIT
// After mm/mempolicy.c's documented behaviour: set_mempolicy(2), get_mempolicy(2).
#include "emulate/mem_policy.hpp"

#include <linux/mempolicy.h>
#include <vector>

namespace hpcml::emulate {

namespace {

// Newer than some headers.
constexpr int k_weighted_interleave = 6;
constexpr int k_numa_balancing = 1 << 13;
constexpr int k_all_flags = MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES | k_numa_balancing;

/// The nodes that relative numbers mean: 0 is the first that is present, and after the last it begins again.
model::IdSet resolve_relative(const model::IdSet& wanted, const model::IdSet& present) {
  const auto ids = present.ids();
  model::IdSet nodes;
  for (const unsigned id : wanted.ids()) nodes.add(ids[id % ids.size()]);
  return nodes;
}

} // namespace

std::optional<MemPolicy> make_mem_policy(int mode_and_flags, const model::IdSet& wanted,
                                         const model::IdSet& present) {
  MemPolicy policy;
  policy.flags = mode_and_flags & k_all_flags;
  policy.mode = mode_and_flags & ~k_all_flags;
  const int numbering = policy.flags & (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES);
  if (policy.mode < 0 || policy.mode > k_weighted_interleave) return std::nullopt;
  if (numbering == (MPOL_F_STATIC_NODES | MPOL_F_RELATIVE_NODES)) return std::nullopt;
  if ((policy.flags & k_numa_balancing) != 0 && policy.mode != MPOL_BIND) return std::nullopt;
  if (policy.mode == MPOL_DEFAULT || policy.mode == MPOL_LOCAL) {
    if (!wanted.empty() || numbering != 0) return std::nullopt;
    return policy;
  }
  if (wanted.empty()) {
    if (policy.mode != MPOL_PREFERRED || numbering != 0) return std::nullopt;
    policy.mode = MPOL_LOCAL;
    return policy;
  }
  policy.nodes =
      (policy.flags & MPOL_F_RELATIVE_NODES) != 0 ? resolve_relative(wanted, present) : wanted & present;
  if (policy.nodes.empty()) return std::nullopt;
  if (policy.mode == MPOL_PREFERRED) policy.nodes = model::IdSet::of({policy.nodes.first()});
  policy.shown = numbering != 0 ? wanted : policy.nodes;
  return policy;
}

unsigned choose_memory_node(const MemPolicy& policy, unsigned local) {
  if (policy.nodes.empty() || (policy.mode == MPOL_BIND && policy.nodes.contains(local))) return local;
  return policy.nodes.first();
}

} // namespace hpcml::emulate
