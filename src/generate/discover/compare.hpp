// SPDX-License-Identifier: MIT
// Where a profile and its cluster disagree. Pure.
#pragma once

#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/site.hpp"
#include "generate/discover/cluster_facts.hpp"
#include "generate/discover/node_kinds.hpp"

namespace hpcml::discover {

/// The differences, codes "drift/…": errors where a request that follows the profile would be refused or
/// would run on something else, warnings where the profile keeps users from what the cluster allows, notes
/// where the profile merely does not know.
diag::Diagnostics compare_site(const model::Site& site, const ClusterFacts& facts,
                               const std::vector<NodeKind>& kinds);

} // namespace hpcml::discover
