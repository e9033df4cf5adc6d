// SPDX-License-Identifier: MIT
// The network device nearest to each GPU.
#pragma once

#include <string>
#include <vector>

#include "topo/node.hpp"

namespace hpcml::topo {

struct NicChoice {
  std::string nic; ///< empty: none is known to be near
  std::string why; ///< "same PCIe switch", "same NUMA node"
};

/// One choice per GPU: same PCIe switch, then same host bridge, same L3, same NUMA node, same package, then
/// any; GPUs with equally near devices take them in turns, by the GPUs' order. Management devices are left
/// out, and so are devices of which nothing is known.
std::vector<NicChoice> nearest_nics(const std::vector<Gpu>& gpus, const std::vector<Nic>& nics);

} // namespace hpcml::topo
