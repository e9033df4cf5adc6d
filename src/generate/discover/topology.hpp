// SPDX-License-Identifier: MIT
// One node's topology for a discovered profile: from a file, from the GPUs' tools, or from the node this runs
// on.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/model/node_shape.hpp"
#include "core/util/result.hpp"
#include "generate/discover/node_kinds.hpp"

namespace hpcml::discover {

/// What one node showed of itself; parts that it did not show are empty.
struct ObservedNode {
  model::CpuShape cpu; ///< no cores: not shown
  std::vector<model::GpuLocality> gpus;
  model::GpuVendor gpu_vendor = model::GpuVendor::unknown;
  std::string source; ///< where it was read, for users
};

/// The GPUs of `nvidia-smi topo -m` or `rocm-smi --showtopo` with their NUMA nodes; empty when the text is
/// neither. Pure.
std::vector<model::GpuLocality> read_gpu_topology(std::string_view text);

/// A node from hwloc XML, NCCL XML, JSON, or from what one of the GPU tools printed.
util::Result<ObservedNode> load_seen_node(const std::filesystem::path& path);

/// The node this runs on, as the kernel and the drivers show it below `root`.
util::Result<ObservedNode> read_seen_node(const std::string& host_name,
                                          const std::filesystem::path& root = "/");

/// The node type that it is one of: same sockets, cores and threads, and as many GPUs where it shows any and
/// Slurm lists some. Errors when none or several fit.
util::Result<std::string> find_kind(const ObservedNode& node, const std::vector<NodeKind>& kinds);

} // namespace hpcml::discover
