// SPDX-License-Identifier: MIT
// What the GPUs' drivers and the PCI bus show of a node's GPUs, for programs that count them without Slurm's
// variables.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "emulate/sandbox.hpp"
#include "model/node_shape.hpp"

namespace hpcml::emulate {

/// File name (below a folder for all nodes) to text: NVIDIA's list in /proc, AMD's compute topology in /sys.
/// Where the profile does not know a GPU's NUMA node, the file says -1, as firmware does.
std::map<std::string, std::string> make_gpu_files(const model::NodeType& type);

/// The places at which nodes see the files of `folder`, as far as this kernel has them.
std::vector<SandboxMount> gpu_mounts(const model::NodeType& type, const std::string& folder);

} // namespace hpcml::emulate
