// SPDX-License-Identifier: MIT
// What nodes have for their GPUs: devices, and what drivers and slurmd find of them.
#pragma once

#include <string>

#include "core/util/result.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// Makes it, for all nodes, in the state directory.
util::Status make_gpu_state(const std::string& state_dir, const ClusterRun& run);

/// Shows a node its part.
void add_gpu_mounts(SandboxNode& made, const ClusterRun& run, const ClusterNode& node,
                    const std::string& state_dir);

} // namespace hpcml::emulate
