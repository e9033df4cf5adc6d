// SPDX-License-Identifier: MIT
// Nodes for a site whose profile describes none: a plain Slurm cluster of the size that the user says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/mem_size.hpp"
#include "core/model/site.hpp"
#include "core/util/result.hpp"
#include "emulate/cluster_layout.hpp"

namespace hpcml::emulate {

/// Cores of a node whose profile states none: as many as any job requests, so that an assumption does not
/// reject a job that the site accepts.
inline constexpr unsigned k_unknown_cores = 256;
/// Memory of such a node, for the same reason.
inline constexpr unsigned long long k_unknown_memory_mib = 4ULL << 20;

/// What a user says of the nodes; what is unset is assumed.
struct AssumedNodeHardware {
  std::optional<unsigned> cpus;
  std::optional<unsigned> gpus; ///< NVIDIA's; 0: none
  std::string gpu_type;         ///< as jobs name it: "a100"; empty: they don't
  std::optional<model::MemSize> memory;
  bool any() const { return cpus || gpus || memory; }
};

/// `site` with one partition ("main", or the name given) of 64 CPUs, 4 GPUs and 256 GiB a node, or as
/// requested. Fails for a site that describes its nodes and for one without a Slurm.
util::Result<model::Site> assume_nodes(model::Site site, const std::string& partition,
                                       const AssumedNodeHardware& options);

/// Gives cores to the node types, of the partition if one is named, whose cores the profile does not state,
/// and nodes to a partition of which it describes none. Returns a sentence for each assumption.
std::vector<std::string> complete_nodes(model::Site& site, const std::string& partition);

/// Returns a sentence for each fact that the profile does not state and the cluster needs: the memory of the
/// nodes that run, and the partition of jobs that name none.
std::vector<std::string> describe_assumptions(const model::Site& site, const ClusterLayout& layout);

/// The nodes as a sentence: "64 CPUs, 4 GPUs and 256G of memory".
std::string describe_nodes(const model::NodeType& type);

} // namespace hpcml::emulate
