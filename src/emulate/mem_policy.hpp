// SPDX-License-Identifier: MIT
// From which of a node's memory domains a thread gets its memory: what set_mempolicy accepts and
// get_mempolicy returns.
#pragma once

#include <optional>

#include "core/model/id_set.hpp"

namespace hpcml::emulate {

/// A policy as the kernel keeps it. Memory itself stays where this machine has it.
struct MemPolicy {
  int mode = 0;       ///< MPOL_DEFAULT
  int flags = 0;      ///< MPOL_F_STATIC_NODES and the like
  model::IdSet nodes; ///< empty for MPOL_DEFAULT and MPOL_LOCAL
  model::IdSet shown; ///< what get_mempolicy returns: the numbers as given, if a flag of the mode defines how
                      ///< they are read
  bool operator==(const MemPolicy&) const = default;
};

/// The policy that set_mempolicy(2) and mbind(2) make of their arguments; nothing where the kernel says
/// EINVAL. `wanted`: empty also where the caller gave no nodes. `present`: the node's memory domains.
std::optional<MemPolicy> make_mem_policy(int mode_and_flags, const model::IdSet& wanted,
                                         const model::IdSet& present);

/// Returns the domain from which a thread with this policy gets its next page, as MPOL_F_NODE | MPOL_F_ADDR
/// does. `local`: the domain of the thread's CPUs.
unsigned choose_memory_node(const MemPolicy& policy, unsigned local);

} // namespace hpcml::emulate
