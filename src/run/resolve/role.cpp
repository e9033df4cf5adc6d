// SPDX-License-Identifier: MIT
#include "run/resolve/role.hpp"

#include <algorithm>

#include "run/resolve/gpus.hpp"
#include "run/resolve/task_place.hpp"

namespace hpcml::launch {

using util::Result;

namespace {

/// Ranks to start here: what was asked for; outside a step as many as the visible GPUs are enough for, at
/// least one.
unsigned processes_to_start(const LaunchRequest& request, const ProcessContext& environment,
                            const NodeView& node, const InnerLauncher& inner) {
  if (request.processes_per_node) return *request.processes_per_node;
  const unsigned per_rank = request.gpus_per_task.value_or(1);
  // A launcher in the command starts the ranks for all GPUs.
  if (per_rank == 0 || inner) return 1;
  const auto gpus = find_visible_gpus(environment.env, "", static_cast<unsigned>(node.gpus.places.size()));
  return std::max(1U, static_cast<unsigned>(gpus.entries.size()) / per_rank);
}

Result<LaunchRole> find_role(const LaunchRequest& request, const ProcessContext& environment,
                             const NodeView& node, const NodeQueries& queries, const InnerLauncher& inner) {
  if (!request.processes_per_node && in_task(request, environment)) {
    TRY(auto world, find_task_world(request, environment, queries));
    return LaunchRole(ExecRankRole{std::move(world)});
  }
  TRY_DONE(check_outer_launcher(environment.env));
  const unsigned processes = processes_to_start(request, environment, node, inner);
  TRY(auto first, find_spawn_world(request, environment, queries, processes));
  return LaunchRole(StartRanksRole{std::move(first)});
}

} // namespace

const World& first_world(const LaunchRole& role) {
  const auto* starts = std::get_if<StartRanksRole>(&role);
  return starts != nullptr ? starts->first : std::get<ExecRankRole>(role).world;
}

Result<LaunchRole> decide_role(const LaunchRequest& request, const ProcessContext& environment,
                               const NodeView& node, const NodeQueries& queries, const InnerLauncher& inner) {
  TRY(auto role, find_role(request, environment, node, queries, inner));
  if (inner) TRY_DONE(check_inner_launcher(*inner, first_world(role)));
  return role;
}

} // namespace hpcml::launch
