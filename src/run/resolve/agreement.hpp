// SPDX-License-Identifier: MIT
// Variables of a rank's place that are set before launch: they must agree, unless they are those of another
// step, whose launch has left its mark.
#pragma once

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/resolve/node_queries.hpp"
#include "run/resolve/world.hpp"

namespace hpcml::launch {

/// Compares variables that were set before launch with the rank: two launchers would build two worlds.
/// Accepts a MASTER_ADDR of the same node; the error names each variable that differs. `starts`: this
/// process starts the ranks, so that the variables are those of its task.
util::Status agree_with_environment(const ProcessContext& environment, const NodeQueries& queries,
                                    World& world, bool starts);

/// The environment without what launch has set for a rank of another step, from which this one was started
/// or submitted; what was changed since stays.
util::EnvSnapshot without_outer_rank(util::EnvSnapshot env);

/// Marks what was set here as this step's.
void export_rank_marker(const std::vector<std::pair<std::string, std::string>>& set, util::EnvSnapshot& env);

} // namespace hpcml::launch
