// SPDX-License-Identifier: MIT
// The network devices of the node this process runs on, and which of them is nearest to each of its GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/topo/nearest_nic.hpp"

namespace hpcml::topo {

/// Reads a few links and numbers for each device below `root` ("/"; another one for tests); nothing without
/// GPUs.
NearestNicPerGpu read_live_nics(const std::vector<model::GpuLocality>& gpus,
                                const std::vector<std::string>& interfaces,
                                const std::filesystem::path& root = "/");

} // namespace hpcml::topo
