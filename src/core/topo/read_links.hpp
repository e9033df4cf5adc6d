// SPDX-License-Identifier: MIT
// Links between GPUs in topology files.
#pragma once

#include <vector>

#include "core/topo/node.hpp"
#include "core/topo/xml.hpp"

namespace hpcml::topo {

/// From hwloc's matrices NVLinkBandwidth or XGMIBandwidth, in MB/s, for the GPUs that were read from the
/// file.
std::vector<GpuLink> read_hwloc_links(const pugi::xml_node& topology, const std::vector<Gpu>& gpus);

/// From <nvlink> and <xgmi> of an NCCL or RCCL file, in numbers of links. GPUs at NVSwitches are linked with
/// each other.
std::vector<GpuLink> read_nccl_links(const pugi::xml_node& system, const std::vector<Gpu>& gpus);

} // namespace hpcml::topo
