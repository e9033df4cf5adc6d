// SPDX-License-Identifier: MIT
// The ranks' network variables as this node can fulfil them.
#pragma once

#include <string>
#include <vector>

#include "run/launch/node_setup.hpp"

namespace hpcml::launch {

/// Drops interfaces that this node lacks from the plan (Gloo fails on an unknown name, and says little). All
/// ranks keep the same list: NCCL finds the nearest NIC itself, and Gloo's ranks meet on the first.
/// `present`: the node's interfaces; empty: not known. Variables of `setup.env` are left alone.
void settle_interfaces(NodeSetup& setup, const model::Site& site, const std::vector<std::string>& present);

/// Plans GLOO_SOCKET_IFNAME if no variable names it and the step has other nodes, by the node's way to these.
void settle_gloo_interface(NodeSetup& setup, const NetworkView& network);

/// Plans the ranks' limits, and warns where the limit of locked memory is too low for the node's or the
/// site's fabric.
void settle_limits(NodeSetup& setup, const NodeView& node, const std::string& site_fabric);

} // namespace hpcml::launch
