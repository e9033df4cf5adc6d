// SPDX-License-Identifier: MIT
#include "run/resolve/resolve.hpp"

#include "run/resolve/cache_paths.hpp"
#include "run/resolve/container_environment.hpp"

namespace hpcml::launch {

using util::Result;

namespace {

/// The hosts that show the node's way to the others: rank 0's, then two more, as a node may know its own name
/// as one of the loopback. None in a step of one node.
std::vector<std::string> hosts_to_reach(const World& world) {
  const auto& nodes = world.layout.nodes;
  if (world.layout.node_count() < 2) return {};
  std::vector<std::string> hosts = {world.address};
  for (std::size_t i = 0; i < nodes.size() && hosts.size() < 3; ++i)
    if (i != world.layout.node_rank) hosts.push_back(nodes[i]);
  return hosts;
}

/// True if the site's fabric decides whether the first rank of a node reports too low a limit.
bool needs_site_fabric(const LaunchRequest& request, const NodeView& node, const World& first) {
  return !request.site && first.layout.local_rank == 0 && node.locking_fabric.empty() &&
         node.limits.locked_memory.soft < k_enough_locked_memory;
}

/// Adds what the plan of a node needs to know of its site and of its way to other nodes.
void complete_view(const LaunchRequest& request, const ProcessContext& environment, const World& first,
                   const NodeQueries& queries, NodeView& node) {
  if (needs_site_fabric(request, node, first)) node.site_fabric = queries.site_fabric();
  if (!environment.env.get("GLOO_SOCKET_IFNAME")) node.network = queries.network(hosts_to_reach(first));
}

/// Sets the directories of the node's caches.
util::Status place_caches(const LaunchRequest& request, const ProcessContext& environment,
                          const std::shared_ptr<NodeSetup>& node) {
  if (node->plan.caches.empty()) return util::Success{};
  const auto first = make_rank_setup(request, node, node->world.layout.local_rank);
  TRY(node->cache_paths, cache_paths(first, environment.process_id));
  return util::Success{};
}

/// True if this process decides which store the programs use: it starts ranks, it becomes rank 0, or the
/// ranks share no key, so that each decides alone.
bool selects_store(const LaunchRequest& request, const LaunchRole& role) {
  const auto& world = first_world(role);
  return model::needs_rendezvous(request.rank_settings, world.layout.world_size) &&
         (starts_ranks(role) || world.layout.rank == 0 || !world.channel.is_shared);
}

StoreSelection select_store(const LaunchRequest& request, const std::shared_ptr<NodeSetup>& node,
                            const NodeQueries& queries) {
  const auto& choice = request.rank_settings.store;
  if (!node->agent)
    return choose_store(
        model::value_or(choice, StoreProvider::automatic),
        queries.torch(request.command, make_rank_setup(request, node, node->world.layout.local_rank).env));
  StoreSelection selection;
  selection.reason = "--store own has no effect: each rank is an agent with its own store";
  selection.is_reported = choice && choice->value == StoreProvider::own;
  return selection;
}

bool is_same(const slurm::StepTaskPosition& a, const slurm::StepTaskPosition& b) {
  return a.rank == b.rank && a.local_rank == b.local_rank && a.world_size == b.world_size &&
         a.local_world_size == b.local_world_size && a.node_rank == b.node_rank && a.nodes == b.nodes &&
         a.tasks_per_node == b.tasks_per_node;
}

} // namespace

std::vector<RankSetup> ResolvedLaunch::make_ranks(const LaunchRequest& request) const {
  std::vector<RankSetup> ranks;
  const auto& layout = node->world.layout;
  const unsigned first = starts_ranks ? 0 : layout.local_rank;
  const unsigned count = starts_ranks ? layout.local_world_size : 1;
  for (unsigned i = 0; i < count; ++i) {
    ranks.push_back(make_rank_setup(request, node, first + i));
    set_container_variables(ranks.back(), request);
  }
  return ranks;
}

std::optional<LaunchError> check_request(const LaunchRequest& request) {
  if (request.command.empty())
    return LaunchError{"layout", {"no command given", "run hpcml launch [OPTIONS] -- COMMAND [ARGS]..."}};
  if (const auto fault = model::find_contradiction(request.rank_settings))
    return LaunchError{"layout", *fault};
  return std::nullopt;
}

LaunchDecision resolve(const LaunchRequest& request, const ProcessContext& environment, NodeView node,
                       const NodeQueries& queries, const std::optional<World>& first) {
  const auto inner = find_inner_launcher(request.command, environment.env, queries);
  auto role = first ? Result<LaunchRole>(StartRanksRole{*first})
                    : decide_role(request, environment, node, queries, inner);
  if (!role) return LaunchError{"layout", role.error()};
  const auto fail = [&](const char* phase, const util::Error& error) {
    return LaunchError{phase, error, first_world(*role), !starts_ranks(*role)};
  };
  complete_view(request, environment, first_world(*role), queries, node);
  auto planned = plan_node_setup(request, *role, node, environment.env, inner);
  if (!planned) return fail("gpus", planned.error());
  auto setup = std::make_shared<NodeSetup>(std::move(*planned));
  const auto& layout = setup->world.layout;
  if (const auto passed = check_container_environment(request.command);
      !passed && layout.world_size > 1 && !setup->agent)
    return fail("container", passed.error());
  if (const auto placed = place_caches(request, environment, setup); !placed)
    return fail("cache", placed.error());
  if (selects_store(request, *role)) setup->store = select_store(request, setup, queries);
  return ResolvedLaunch{starts_ranks(*role), std::move(setup)};
}

std::optional<ResolvedLaunch> adopt_world(const ResolvedLaunch& resolved, const LaunchRequest& request,
                                          const ProcessContext& environment, const World& world) {
  const auto& planned = resolved.node->world;
  // The address decides by which network this node reaches the others.
  if (!resolved.starts_ranks || !is_same(planned.layout, world.layout) || planned.address != world.address)
    return std::nullopt;
  auto node = std::make_shared<NodeSetup>(*resolved.node);
  node->world = world;
  if (!place_caches(request, environment, node)) return std::nullopt;
  return ResolvedLaunch{true, std::move(node)};
}

} // namespace hpcml::launch
