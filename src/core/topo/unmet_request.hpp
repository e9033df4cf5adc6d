// SPDX-License-Identifier: MIT
// Whether a plan gives what was asked for: the planner makes the best of too little.
#pragma once

#include <optional>
#include <string>

#include "core/topo/affinity.hpp"

namespace hpcml::topo {

/// What the node lacks, as a sentence: cores for each rank, or any that may be used. Nothing where the plan
/// has all that was asked for, or where the node's CPUs are not known.
std::optional<std::string> unmet_request(const Node& node, const AffinityRequest& request,
                                         const AffinityPlan& plan);

} // namespace hpcml::topo
