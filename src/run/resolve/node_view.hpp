// SPDX-License-Identifier: MIT
// What this node and this process have, read once.
#pragma once

#include <string>
#include <vector>

#include "core/model/node_shape.hpp"
#include "core/topo/live_node.hpp"
#include "core/topo/nearest_nic.hpp"
#include "core/util/result.hpp"
#include "run/resolve/gloo_interface.hpp"
#include "run/resolve/launch_request.hpp"
#include "run/resolve/process_limits.hpp"

namespace hpcml::launch {

/// What this node and this process have.
struct NodeView {
  model::CpuShape cpus;
  model::IdSet mask;                     ///< CPUs of this process
  topo::LiveGpus gpus;                   ///< all that the node's drivers show
  topo::NearestNicPerGpu nics;           ///< near these
  std::vector<topo::GpuLink> links = {}; ///< between them, where the ranks are to follow the links
  std::vector<std::string>
      interfaces; ///< names of all network interfaces; empty: not known, or no site names any
  ProcessLimits limits = {};
  std::string locking_fabric = {}; ///< of its devices ("InfiniBand"), if that locks memory
  std::string site_fabric = {};    ///< of the site that it belongs to, where that is known
  NetworkView network = {};        ///< its way to the other nodes, where there are any
};

} // namespace hpcml::launch
