// SPDX-License-Identifier: MIT
// What this process is to do: become one rank, or start the ranks of its node. Decided once.
#pragma once

#include <variant>

#include "core/util/result.hpp"
#include "run/resolve/inner_launcher.hpp"
#include "run/resolve/launch_request.hpp"
#include "run/resolve/node_view.hpp"
#include "run/resolve/world.hpp"

namespace hpcml::launch {

/// A task of a step that becomes one rank by exec.
struct ExecRankRole {
  World world;
};

/// Starts the ranks of this node and stays with them.
struct StartRanksRole {
  World first; ///< as the first of them sees it; `local_world_size` of them are started
};

using LaunchRole = std::variant<ExecRankRole, StartRanksRole>;

/// The world as the first rank of this process sees it.
const World& first_world(const LaunchRole& role);
inline bool starts_ranks(const LaunchRole& role) { return std::holds_alternative<StartRanksRole>(role); }

/// Decides from the flags and from who started this process. Without --nproc-per-node, outside a step, as
/// many ranks are started as the visible GPUs are enough for. `inner`: the command's own launcher.
util::Result<LaunchRole> decide_role(const LaunchRequest& request, const ProcessContext& environment,
                                     const NodeView& node, const NodeQueries& queries,
                                     const InnerLauncher& inner);

} // namespace hpcml::launch
