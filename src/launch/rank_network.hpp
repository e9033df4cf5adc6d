// SPDX-License-Identifier: MIT
// The ranks' network variables as this node can fulfil them.
#pragma once

#include <string>
#include <vector>

#include "launch/node_setup.hpp"

namespace hpcml::launch {

/// Drops interfaces that this node lacks from the plan (Gloo fails on an unknown name, and says little). All
/// ranks keep the same list: NCCL finds the nearest NIC itself, and Gloo's ranks meet on the first.
/// `present`: the node's interfaces; empty: not known. Variables of `setup.env` are left alone.
void settle_interfaces(NodeSetup& setup, const model::Site& site, const std::vector<std::string>& present);

} // namespace hpcml::launch
