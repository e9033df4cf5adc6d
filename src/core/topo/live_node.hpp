// SPDX-License-Identifier: MIT
// The node this process runs on, from the few files of /sys and /proc that describe it, without a library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/topo/node.hpp"

namespace hpcml::topo {

/// The online CPUs with their cores, L3s, NUMA nodes and packages, read below `root` ("/"; another one for
/// tests). L3s and packages are numbered by their lowest CPU, NUMA nodes have the kernel's ids; NUMA nodes
/// without CPUs (memory of GPUs) are omitted. Levels that the kernel does not show stay empty. `reserved` is
/// never known here.
util::Result<model::CpuShape> read_live_cpus(const std::filesystem::path& root = "/");

/// Returns the CPUs that this thread may use (sched_getaffinity), for any number of CPUs.
util::Result<model::IdSet> read_allowed_cpus();

/// The GPUs of a node.
struct LiveGpus {
  model::GpuVendor vendor = model::GpuVendor::unknown; ///< unknown: no GPU driver shows a device
  std::vector<model::GpuLocality> places;
};

/// GPUs of the node as their drivers show them, also those that this job may not use, with the NUMA node that
/// the kernel gives (-1 stays unknown). In the runtime's order: NVIDIA by PCI address, AMD by kernel topology
/// node.
LiveGpus read_live_gpus(const std::filesystem::path& root = "/");

/// The whole node, for users: the above with UUIDs, partitions (MIG, MI300A), PCI paths, XGMI links, NICs and
/// which NUMA nodes are memory of GPUs. NVLink and the UUIDs of MIG instances are in no file of the kernel.
util::Result<Node> read_live_node(const std::filesystem::path& root = "/");

} // namespace hpcml::topo
