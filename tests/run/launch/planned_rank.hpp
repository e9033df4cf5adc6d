// SPDX-License-Identifier: MIT
// What launch decides for a rank, without a process.
#pragma once

#include <memory>
#include <utility>

#include "run/resolve/rank_setup.hpp"

namespace hpcml::testing {

/// As for the one rank of a process that becomes it.
inline util::Result<launch::RankSetup> planned_rank(const launch::LaunchRequest& request,
                                                    const launch::World& world, const launch::NodeView& node,
                                                    const util::EnvSnapshot& env) {
  TRY(auto common, launch::plan_node_setup(request, launch::ExecRankRole{world}, node, env,
                                           launch_chain::find_started_launcher(request.command)));
  return launch::make_rank_setup(request, std::make_shared<const launch::NodeSetup>(std::move(common)),
                                 world.layout.local_rank);
}

} // namespace hpcml::testing
