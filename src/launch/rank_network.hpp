// SPDX-License-Identifier: MIT
// A rank's network variables as this node can fulfil them.
#pragma once

#include <string>
#include <vector>

#include "launch/rank_setup.hpp"

namespace hpcml::launch {

/// Drops interfaces that this node lacks from the plan (Gloo fails on an unknown name, and says little), and gives Gloo the one
/// NIC that is nearest the rank's GPU where every GPU of the node has such. NCCL keeps the whole list: it finds the nearest itself,
/// and all ranks have to see the same. `present`: the node's interfaces; empty: not known. Variables of `setup.env` are left alone.
void settle_interfaces(RankSetup& setup, const model::Site& site, const std::vector<std::string>& present);

} // namespace hpcml::launch
