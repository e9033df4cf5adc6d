// SPDX-License-Identifier: MIT
// Which rank of a node gets which GPUs and which cores: a pure function of the node's shape and the request.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/gpu_order.hpp"
#include "core/model/node_shape.hpp"
#include "core/model/plan.hpp"
#include "core/topo/node.hpp"

namespace hpcml::topo {

/// A level that cores are dealt out from.
enum class PoolLevel { l3, numa, package, node };

/// What is to be placed on one node.
struct AffinityRequest {
  unsigned ranks = 1;
  unsigned gpus_per_rank = 0;    ///< 0: the GPUs divided by the ranks (at least one GPU, shared if need be)
  unsigned cpus_per_rank = 0;    ///< physical cores; 0: all cores of the rank's slice
  unsigned threads_per_core = 1; ///< hardware threads handed out of each core
  model::IdSet allowed = {};     ///< CPUs that may be used; empty: all CPUs of the shape
  unsigned ranks_per_gpu = 0;    ///< this many neighbouring ranks share each GPU; 0: as few as possible
  std::optional<PoolLevel> level = {}; ///< the domain of each GPU; unset: the deepest that all GPUs have
  bool whole_domain = false;  ///< each rank gets all cores of its GPU's domain, with the other ranks there
  bool idle_cores = false;    ///< cores of NUMA nodes without GPUs go to the ranks of the same package
  bool balanced = false;      ///< no rank gets more cores than the one that has fewest
  model::GpuOrder order = {}; ///< for nodes; shapes come with their GPUs in rank order
  std::vector<std::vector<unsigned>> own_gpus = {}; ///< of each rank, by index; empty: dealt out as above
  std::vector<std::string> visible = {}; ///< PCI addresses or buses of the step's GPUs; empty: all GPUs
};

/// One binding per local rank, in rank order, and what a user should know about them.
struct AffinityPlan {
  std::vector<model::PlannedRankBinding> ranks; ///< empty when the shape has no usable core
  std::vector<std::string> warnings;
};

/// The NUMA nodes that some of `cpus` belong to.
model::IdSet numa_of(const model::CpuShape& shape, const model::IdSet& cpus);

/// Devices first: rank r takes the r-th block of `gpus` (their order is the rank order), cores come from the
/// domain that the GPUs hang under (L3 if all of them do, else NUMA, else package, else the node), reserved
/// cores omitted, in contiguous near-equal slices of whole cores with the larger ones first; a slice is cut
/// to cpus_per_rank afterwards, and a rank that is short of them gets free cores of the nearest domains.
/// Ranks never share a core while the node has enough of them.
AffinityPlan plan_affinity(const model::CpuShape& shape, const std::vector<model::GpuLocality>& gpus,
                           const AffinityRequest& request);

/// The node's GPUs that `visible` names (PCI addresses, buses or UUIDs; empty: all), in the node's order and
/// renumbered as a step sees them. An error names what does not exist or names several.
util::Result<std::vector<Gpu>> visible_gpus(const Node& node, const std::vector<std::string>& visible);

/// The node with only these GPUs and the links between them, numbered as a step sees them.
util::Result<Node> with_visible_gpus(Node node, const std::vector<std::string>& visible);

/// The addresses of the GPUs in a list of visible devices ("2,3", "GPU-…"), for visible_gpus. An error names
/// an entry that is not a GPU of the node: runtimes would omit it and all after it silently.
util::Result<std::vector<std::string>> listed_gpus(const Node& node, const std::string& list);

/// The same for a whole node: takes the step's GPUs in the order asked for, renumbered as the step sees them,
/// and adds NIC and memory nodes. A node of which only the NUMA nodes of the GPUs are known gives bindings
/// without CPUs. An error names a GPU of the list or a PCI address that the node does not have.
util::Result<AffinityPlan> plan_affinity(const Node& node, const AffinityRequest& request);

} // namespace hpcml::topo
