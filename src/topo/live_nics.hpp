// SPDX-License-Identifier: MIT
// The network devices of the node this process runs on, and which of them is nearest to each of its GPUs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "topo/nearest_nic.hpp"

namespace hpcml::topo {

/// What the node shows of its network, by the GPUs' order. Choices without a name: nothing is known to be
/// near.
struct LiveNics {
  std::vector<NicChoice> interfaces; ///< "hsn0": of the names that were asked for
  std::vector<NicChoice> devices;    ///< "mlx5_0": of the RDMA devices with an active port
  std::string
      fabric; ///< "=mlx5_0,mlx5_1" where Ethernet's RDMA devices stand beside those of the fabric; else empty
};

/// Reads a few links and numbers for each device below `root` ("/"; another one for tests); nothing without
/// GPUs.
LiveNics read_live_nics(const std::vector<model::GpuPlace>& gpus, const std::vector<std::string>& interfaces,
                        const std::filesystem::path& root = "/");

} // namespace hpcml::topo
