// SPDX-License-Identifier: MIT
// What the GPUs' drivers and the PCI bus show of a node's GPUs, for programs that count them without Slurm's
// variables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/model/node_shape.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// A MIG instance that is its own device.
struct EmulatedMigInstance {
  const model::MigInstanceType* slice = nullptr;
  unsigned gpu = 0;    ///< which it is part of
  unsigned number = 0; ///< among that GPU's parts
};

/// A node's GPUs, each cut into as many parts of one kind as it has room for ("3g": two of its seventh
/// parts), the kinds in turn.
std::vector<EmulatedMigInstance> cut_gpus(const model::GpuShape& gpu);

/// How CUDA names the part on that node.
std::string part_uuid(const EmulatedMigInstance& part, const std::string& node);

/// File name (below a directory for the nodes of one kind) to text: NVIDIA's list in /proc, AMD's compute
/// topology in /sys. Where the profile does not know a GPU's NUMA node, the file says -1, as firmware does.
/// `slices`: the GPUs are cut.
std::map<std::string, std::string> make_gpu_files(const model::NodeType& type, bool slices);

/// The places at which nodes see the files of `directory`, as far as this kernel has them.
std::vector<SandboxMount> gpu_mounts(const model::NodeType& type, const std::string& directory);

} // namespace hpcml::emulate
