// SPDX-License-Identifier: MIT
// Variables of a rank's place that are set before launch: they must agree, unless they are those of another
// step, whose launch has left its mark.
#pragma once

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/launch/world.hpp"

namespace hpcml::launch {

/// What somebody else has set must say the same: two launchers would build two worlds. Takes a MASTER_ADDR
/// that means the same node; the error names each variable that does not agree. `starts`: the ranks are
/// started here, and what is set is the task's or the ranks'.
util::Status agree_with_environment(const RuntimeContext& context, World& world, bool starts);

/// The environment without what launch has set for a rank of another step, from which this one was started
/// or submitted; what was changed since stays.
util::EnvSnapshot without_outer_rank(util::EnvSnapshot env);

/// Marks what was set here as this step's.
void export_rank_marker(const std::vector<std::pair<std::string, std::string>>& set, util::EnvSnapshot& env);

} // namespace hpcml::launch
