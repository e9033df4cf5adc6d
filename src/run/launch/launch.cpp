// SPDX-License-Identifier: MIT
#include "run/launch/launch.hpp"

#include <fmt/format.h>

#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/launch/container_environment.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/exec_rank.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/rank_report.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/separate_worlds.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/launch/supervisor.hpp"
#include "run/launch/task_place.hpp"

namespace hpcml::launch {

using util::Result;

namespace {

/// Slurm's task number identifies the rank of a failure even if the layout is uncertain.
std::optional<unsigned> rank_of_task(const LaunchRequest& request, const RuntimeContext& context) {
  const auto task = util::parse_unsigned(context.env.get_or("SLURM_PROCID", ""));
  const bool is_task = slurm::in_step_task(context.env) && starter_of(context) != Starter::script;
  if (request.processes_per_node || !is_task || !task || *task >= 10000000) return std::nullopt;
  return static_cast<unsigned>(*task);
}

/// Warns that the other nodes of the job stay idle without srun, which is not visible otherwise.
void warn_of_idle_nodes(const NodeSetup& node, const RuntimeContext& context) {
  const auto nodes = util::parse_unsigned(context.env.get_or("SLURM_JOB_NUM_NODES", "1"));
  if (nodes.value_or(1) > 1 && !node.world.in_job)
    util::log_warning(
        fmt::format("only {} of the job's {} nodes is used: this process is not a task of srun\n"
                    "hint: use srun hpcml launch … to use all nodes",
                    context.host, *nodes));
}

/// What this process is to do, and its node as planned for that.
struct ResolvedLaunch {
  LaunchRole role;
  std::shared_ptr<NodeSetup> node;
};

/// An error, and what launch was at.
struct LaunchError {
  std::string phase;
  util::Error error;
  std::optional<World> world = {}; ///< where it is known: as the first rank of this process sees it
  bool one_rank = true;            ///< which becomes the program; false: several are started here
};

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
bool needs_site_fabric(const LaunchRequest& request, const NodeView& view, const World& first) {
  return !request.site && first.layout.local_rank == 0 && view.locking_fabric.empty() &&
         view.limits.locked_memory.soft < k_enough_locked_memory;
}

/// `first` is the world if it is already known; otherwise it follows from the step, or from this machine.
std::variant<ResolvedLaunch, LaunchError> decide(const LaunchRequest& request, const RuntimeContext& context,
                                                 const std::optional<World>& first = std::nullopt) {
  if (request.command.empty())
    return LaunchError{"layout", {"no command given", "run hpcml launch [OPTIONS] -- COMMAND [ARGS]..."}};
  if (const auto fault = model::find_contradiction(request.rank_request))
    return LaunchError{"layout", *fault};
  auto view = read_node(request);
  if (!view) return LaunchError{"node", view.error()};
  auto role = first ? Result<LaunchRole>(StartsRanks{*first}) : decide_role(request, context, *view);
  if (!role) return LaunchError{"layout", role.error()};
  if (const auto& find_fabric = context.find_fabric;
      find_fabric && needs_site_fabric(request, *view, first_world(*role)))
    view->site_fabric = find_fabric();
  if (!context.env.get("GLOO_SOCKET_IFNAME"))
    view->network = read_network(hosts_to_reach(first_world(*role)));
  auto planned = plan_node_setup(request, *role, *view, context.env);
  if (!planned) return LaunchError{"gpus", planned.error(), first_world(*role), !starts_ranks(*role)};
  auto node = std::make_shared<NodeSetup>(std::move(*planned));
  if (const auto passed = check_container_environment(request.command);
      !passed && node->world.layout.world_size > 1 && !node->agent)
    return LaunchError{"container", passed.error(), node->world, !starts_ranks(*role)};
  if (!node->plan.caches.empty()) {
    const auto& layout = node->world.layout;
    auto paths = cache_paths(make_rank_setup(request, node, layout.local_rank));
    if (!paths) return LaunchError{"cache", paths.error(), node->world, !starts_ranks(*role)};
    node->cache_paths = std::move(*paths);
  }
  return ResolvedLaunch{std::move(*role), std::move(node)};
}

/// Reports why nothing is started here, in the log and to the launchers of the other ranks.
int give_up(const LaunchRequest& request, const RuntimeContext& context, const LaunchError& why) {
  const auto& world = why.world;
  // A launcher that starts all ranks has no other launcher to notify.
  if (world && (why.one_rank || world->layout.node_count() > 1))
    notify_failure(*world, request, context, why.error.what);
  std::optional<RankLocation> place;
  if (const auto task = rank_of_task(request, context); !world && task) place = {*task, 0, context.host};
  if (world && why.one_rank) place = location_of(world->layout, context.host);
  return report_failure({k_cannot_set_up, why.phase, why.error, place, context.host}, context.env);
}

int run_decided(const LaunchRequest& request, const RuntimeContext& context, const ResolvedLaunch& decided) {
  const auto& role = decided.role;
  const auto& node = decided.node;
  const bool starts = starts_ranks(role);
  if (starts) warn_of_idle_nodes(*node, context);
  std::vector<CacheDir> caches;
  if (!node->cache_paths.empty()) {
    auto opened = open_caches(node->plan.caches, node->cache_paths);
    if (!opened) return give_up(request, context, {"cache", opened.error(), node->world, !starts});
    caches = std::move(*opened);
  }
  const auto become = [&] {
    return exec_rank(make_rank_setup(request, node, node->world.layout.local_rank), request, context);
  };
  const int save_signal = find_save_signal(context.env);
  const auto& layout = node->world.layout;
  if (!starts)
    return save_signal == 0
               ? become()
               : run_handing_on(save_signal, {layout.rank, layout.world_size, context.host}, become);
  Outcome outcome;
  {
    store::Activity connected;
    const auto store = serve_started_ranks(node, request, context, &connected);
    Supervisor supervisor(request, context, node);
    if (store) supervisor.join_at(store->pid);
    outcome = supervisor.run();
    if (store && store->part >= 0) outcome = supervisor.part_from_store(outcome, store->part);
    auto evidence = find_world_evidence(node, request, supervisor);
    if (outcome.code == 0 && evidence &&
        report_separate_worlds(std::move(*evidence), store ? &connected : nullptr)) {
      outcome.code = k_cannot_set_up;
      write_class(outcome.code, model::FailureClass::program);
    }
  }
  for (auto& cache : caches) release_cache(cache);
  if (outcome.signal != 0) end_step_by_signal(outcome.signal, context.env);
  return outcome.code;
}

} // namespace

std::variant<World, Failure> find_first_world(const LaunchRequest& request, const RuntimeContext& context) {
  const auto decided = decide(request, context);
  if (const auto* failed = std::get_if<LaunchError>(&decided))
    return Failure{k_cannot_set_up, failed->phase, failed->error, {}, context.host};
  const auto& [role, node] = std::get<ResolvedLaunch>(decided);
  if (starts_ranks(role)) return node->world;
  return Failure{k_cannot_set_up,
                 "layout",
                 {"an agent starts the ranks of a node, but this task is a single rank",
                  "use one task per node and --nproc-per-node: srun --ntasks-per-node=1 hpcml launch "
                  "--nproc-per-node N …"},
                 {},
                 context.host};
}

std::variant<PreparedRanks, Failure> prepare_ranks(const LaunchRequest& request,
                                                   const RuntimeContext& context, const World& first) {
  const auto decided = decide(request, context, first);
  if (const auto* failed = std::get_if<LaunchError>(&decided))
    return Failure{k_cannot_set_up, failed->phase, failed->error, {}, context.host};
  PreparedRanks prepared{std::get<ResolvedLaunch>(decided).node, {}};
  if (!prepared.node->cache_paths.empty()) {
    auto opened = open_caches(prepared.node->plan.caches, prepared.node->cache_paths);
    if (!opened) return Failure{k_cannot_set_up, "cache", opened.error(), {}, context.host};
    prepared.caches = std::move(*opened);
  }
  return prepared;
}

int run_launch(const LaunchRequest& request, const RuntimeContext& context) {
  const auto decided = decide(request, context);
  if (const auto* failed = std::get_if<LaunchError>(&decided)) return give_up(request, context, *failed);
  return run_decided(request, context, std::get<ResolvedLaunch>(decided));
}

Result<std::string> describe_launch(const LaunchRequest& request, const RuntimeContext& context) {
  const auto decided = decide(request, context);
  if (const auto* failed = std::get_if<LaunchError>(&decided)) return failed->error;
  const auto& [role, node] = std::get<ResolvedLaunch>(decided);
  const auto setup_of = [&](unsigned local) {
    auto setup = make_rank_setup(request, node, local);
    set_container_variables(setup, request);
    return setup;
  };
  if (!starts_ranks(role)) return render_dry_run(setup_of(node->world.layout.local_rank), request.command);
  std::string text;
  for (unsigned local = 0; local < rank_count(role); ++local) {
    const auto setup = setup_of(local);
    text += (text.empty() ? "# rank " : "\n# rank ") + std::to_string(setup.world.layout.rank) + "\n";
    text += render_dry_run(setup, request.command);
  }
  return text;
}

} // namespace hpcml::launch
