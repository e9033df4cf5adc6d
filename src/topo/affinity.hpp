// SPDX-License-Identifier: MIT
// Which rank of a node gets which GPUs and which cores: a pure function of the node's shape and the request.
#pragma once

#include <string>
#include <vector>

#include "model/node_shape.hpp"
#include "model/plan.hpp"

namespace hpcml::topo {

/// What is to be placed on one node.
struct AffinityRequest {
  unsigned ranks = 1;
  unsigned gpus_per_rank = 0;    ///< 0: the GPUs divided by the ranks (at least one GPU, shared if need be)
  unsigned cpus_per_rank = 0;    ///< physical cores; 0: all cores of the rank's slice
  unsigned threads_per_core = 1; ///< hardware threads handed out of each core
  model::IdSet allowed;          ///< CPUs that may be used; empty: all CPUs of the shape
};

/// One binding per local rank, in rank order, and what a person should know about them.
struct AffinityPlan {
  std::vector<model::PlannedRankBinding> ranks; ///< empty when the shape has no usable core
  std::vector<std::string> warnings;
};

/// Devices first: rank r takes the r-th block of `gpus` (their order is the rank order), cores come from the
/// domain that the GPUs hang under (L3 if all of them do, else NUMA, else the node), reserved cores left out,
/// in contiguous near-equal slices of whole cores with the larger ones first; a slice is cut to cpus_per_rank
/// afterwards, and a rank that is short of them gets free cores of the nearest domains. Ranks never share a
/// core while the node has enough of them.
AffinityPlan plan_affinity(const model::CpuShape& shape, const std::vector<model::GpuPlace>& gpus,
                           const AffinityRequest& request);

} // namespace hpcml::topo
