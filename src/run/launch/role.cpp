// SPDX-License-Identifier: MIT
#include "run/launch/role.hpp"

#include <algorithm>

#include "run/launch/gpus.hpp"
#include "run/launch/inner_launcher.hpp"
#include "run/launch/task_place.hpp"

namespace hpcml::launch {

using util::Result;

namespace {

/// Ranks to start here: what was asked for; outside a step as many as the visible GPUs are enough for, at
/// least one.
unsigned processes_to_start(const LaunchRequest& request, const RuntimeContext& context,
                            const NodeView& node) {
  if (request.processes_per_node) return *request.processes_per_node;
  const unsigned per_rank = request.gpus_per_task.value_or(1);
  // A launcher in the command starts the ranks for all GPUs.
  if (per_rank == 0 || launch_chain::find_started_launcher(request.command)) return 1;
  const auto gpus = find_visible_gpus(context.env, "", static_cast<unsigned>(node.gpus.places.size()));
  return std::max(1U, static_cast<unsigned>(gpus.entries.size()) / per_rank);
}

Result<LaunchRole> find_role(const LaunchRequest& request, const RuntimeContext& context,
                             const NodeView& node) {
  if (!request.processes_per_node && in_task(request, context)) {
    TRY(auto world, find_task_world(request, context));
    return LaunchRole(ExecsRank{std::move(world)});
  }
  TRY_DONE(check_outer_launcher(context.env));
  TRY(auto first, find_spawn_world(request, context, processes_to_start(request, context, node)));
  return LaunchRole(StartsRanks{std::move(first)});
}

} // namespace

const World& first_world(const LaunchRole& role) {
  const auto* starts = std::get_if<StartsRanks>(&role);
  return starts != nullptr ? starts->first : std::get<ExecsRank>(role).world;
}

unsigned rank_count(const LaunchRole& role) {
  return starts_ranks(role) ? first_world(role).layout.local_world_size : 1;
}

Result<LaunchRole> decide_role(const LaunchRequest& request, const RuntimeContext& context,
                               const NodeView& node) {
  TRY(auto role, find_role(request, context, node));
  if (const auto inner = launch_chain::find_started_launcher(request.command))
    TRY_DONE(check_inner_launcher(read_launcher_config(*inner, context.env), first_world(role)));
  return role;
}

} // namespace hpcml::launch
