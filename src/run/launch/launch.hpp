// SPDX-License-Identifier: MIT
// `hpcml launch`: from the flags to the running program.
#pragma once

#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/cache_dirs.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/resolve/launch_request.hpp"
#include "run/resolve/resolve.hpp"

namespace hpcml::launch {

/// Becomes the program (in a task of a step) or starts and supervises the ranks of this node (with
/// `processes_per_node`, or outside Slurm). Returns the exit code of the program, or 125, 126, 127 for
/// launch's own failures.
int run_launch(const LaunchRequest& request, const RuntimeContext& context);

/// Does what was resolved, by `context.system`.
int perform(const LaunchRequest& request, const RuntimeContext& context, const ResolvedLaunch& resolved);

/// What run_launch would set and start, as text: for the task that it is, or for every rank that it would
/// start here.
util::Result<std::string> describe_launch(const LaunchRequest& request, const RuntimeContext& context);

/// The ranks that are to be started on this node, planned, and the caches that they use.
struct PreparedRanks {
  std::shared_ptr<NodeSetup> node;
  std::vector<CacheDir> caches;
};

/// Resolves the launch of the ranks that this process is to start, in the step's world or on this machine
/// alone.
std::variant<ResolvedLaunch, LauncherFailure> resolve_ranks(const LaunchRequest& request,
                                                            const RuntimeContext& context);

/// Plans this node for its ranks and makes their caches. `first`: the world as the first of them sees it.
/// `planned`: from resolve_ranks, so that the node is not read and planned again if it is planned for that
/// world.
std::variant<PreparedRanks, LauncherFailure> prepare_ranks(const LaunchRequest& request,
                                                           const RuntimeContext& context, const World& first,
                                                           const std::optional<ResolvedLaunch>& planned);

} // namespace hpcml::launch
