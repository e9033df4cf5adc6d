// SPDX-License-Identifier: MIT
// What a process of `hpcml launch` will do, decided before anything is done: its role, its world, and the
// plan of its node with caches, rendezvous endpoint, environment and binding of each rank. Pure: the node is
// a value, and NodeQueries answers what a decision asks in addition.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "core/util/result.hpp"
#include "run/resolve/node_queries.hpp"
#include "run/resolve/rank_setup.hpp"

namespace hpcml::launch {

/// The decisions for one process.
struct ResolvedLaunch {
  bool starts_ranks = false;       ///< and supervises them; false: this process becomes the one rank
  std::shared_ptr<NodeSetup> node; ///< the same for all ranks that this process becomes or starts

  /// Returns the ranks of this process by their local numbers, each with its complete environment, also that
  /// of a container.
  std::vector<RankSetup> make_ranks(const LaunchRequest& request) const;
};

/// An error, and the phase of launch that found it.
struct LaunchError {
  std::string phase; ///< "layout", "node", "gpus", "container", "cache"
  util::Error error;
  std::optional<World> world = {}; ///< where it is known: as the first rank of this process sees it
  bool one_rank = true;            ///< which becomes the program; false: several are started here
};

using LaunchDecision = std::variant<ResolvedLaunch, LaunchError>;

/// Returns what is wrong with the request itself, before the node is read.
std::optional<LaunchError> check_request(const LaunchRequest& request);

/// Decides everything for a checked request. `node` is completed with what depends on the world. `first`: the
/// world of the ranks as their agent knows it; unset: it follows from the step, or from this machine.
LaunchDecision resolve(const LaunchRequest& request, const ProcessContext& environment, NodeView node,
                       const NodeQueries& queries, const std::optional<World>& first = std::nullopt);

/// Returns the same launch for ranks whose agent knows their world: with another port and what the agent
/// adds. Nothing if the plan of the node depends on a difference, so that the node has to be resolved again.
std::optional<ResolvedLaunch> adopt_world(const ResolvedLaunch& resolved, const LaunchRequest& request,
                                          const ProcessContext& environment, const World& world);

} // namespace hpcml::launch
