// SPDX-License-Identifier: MIT
// The network device nearest to each GPU.
#pragma once

#include <string>
#include <vector>

#include "core/topo/node.hpp"

namespace hpcml::topo {

/// The NIC nearest to a GPU, and why it is the nearest.
struct NicChoice {
  std::string nic; ///< empty: none is known to be near
  std::string why; ///< "same PCIe switch", "same NUMA node"
};

/// One choice per GPU: same PCIe switch, then same host bridge, same L3, same NUMA node, same package, then
/// any. GPUs that are next to a device choose first. Of equally near devices a GPU takes the one with fewer
/// GPUs, then that of the nearest NUMA number. Management devices are omitted, and so are devices of which
/// nothing is known.
std::vector<NicChoice> nearest_nics(const std::vector<Gpu>& gpus, const std::vector<Nic>& nics);

/// What a node shows of its network, by the GPUs' order. Choices without a name: nothing is known to be near.
struct NearestNicPerGpu {
  std::vector<NicChoice> interfaces; ///< "hsn0": of the names that were asked for
  std::vector<NicChoice> devices;    ///< "mlx5_0": of the RDMA devices with an active port
  std::string
      fabric; ///< "=mlx5_0,mlx5_1" where Ethernet's RDMA devices are next to those of the fabric; else empty
};

} // namespace hpcml::topo
