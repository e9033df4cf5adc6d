// SPDX-License-Identifier: MIT
// What other tools would do on the same node, so that users can compare. Their own results, with their rules,
// faults included.
#pragma once

#include <string>
#include <vector>

#include "core/topo/affinity.hpp"

namespace hpcml::topo {

/// A request in the other tools' terms; each policy reads what its tool knows.
struct ThirdPartyAffinityRequest {
  std::string policy; ///< one of compat_policies()
  unsigned ranks = 1;
  model::IdSet allowed = {};     ///< CPUs that the processes may use; empty: all but the reserved ones
  unsigned threads = 0;          ///< mpibind: threads per task; 0: as many as there are cores
  unsigned smt = 0;              ///< mpibind: hardware threads per core; 0: as needed
  bool greedy = true;            ///< mpibind
  bool gpu_optim = true;         ///< mpibind
  std::string restrict_ids = {}; ///< mpibind: CPU or NUMA ids to restrict the node to
  bool restrict_memory = false;  ///< mpibind: restrict_ids are NUMA nodes
  bool socket_scope = false;     ///< nvidia: cores of the whole socket
  bool all_logical = true;       ///< nvidia: hardware threads as well
  bool balanced = true;          ///< nvidia: equal numbers of cores
  unsigned min_cores = 1;        ///< nvidia
  unsigned max_cores = 0;        ///< nvidia; 0: no limit
  unsigned cpus_per_rank = 0;    ///< slurm: -c, in CPUs
  unsigned threads_per_core = 1; ///< slurm: --threads-per-core of the allocation
  bool block_cores = false;      ///< slurm: -m block:block instead of block:cyclic
  bool l3_as_socket = false;     ///< slurm: SlurmdParameters=l3cache_as_socket
};

/// What the other tool would do.
struct ThirdPartyAffinityPlan {
  AffinityPlan plan;
  std::vector<unsigned> threads; ///< threads per rank if the tool sets them (mpibind)
};

/// "torch-node", "torch-socket", "torch-exclusive", "torch-core-complex", "mpibind",
/// "nvidia-unique-contiguous" and its other modes, "slurm-closest".
std::vector<std::string> compat_policies();

/// The bindings that the tool of `request.policy` would make. An error where the other tool fails as well, or
/// where the policy has no such name.
util::Result<ThirdPartyAffinityPlan> plan_compat(const Node& node, const ThirdPartyAffinityRequest& request);

} // namespace hpcml::topo
