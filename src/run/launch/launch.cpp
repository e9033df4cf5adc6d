// SPDX-License-Identifier: MIT
#include "run/launch/launch.hpp"

#include <fmt/format.h>

#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/exec_rank.hpp"
#include "run/launch/join_rendezvous.hpp"
#include "run/launch/save_request.hpp"
#include "run/launch/separate_worlds.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/launch/supervisor.hpp"
#include "run/launch/system_view.hpp"
#include "run/resolve/rank_report.hpp"
#include "run/resolve/resolve.hpp"
#include "run/resolve/task_place.hpp"

namespace hpcml::launch {

using util::Result;

namespace {

/// Slurm's task number identifies the rank of a failure even if the layout is uncertain.
std::optional<unsigned> rank_of_task(const LaunchRequest& request, const RuntimeContext& context) {
  const auto task = util::parse_unsigned(context.env.get_or("SLURM_PROCID", ""));
  const bool is_task = slurm::in_step_task(context.env) && starter_of(context) != TaskStarter::script;
  if (request.processes_per_node || !is_task || !task || *task >= 10000000) return std::nullopt;
  return static_cast<unsigned>(*task);
}

/// Warns that the other nodes of the job stay idle without srun, which is not visible otherwise.
void warn_of_idle_nodes(const NodeSetup& node, const RuntimeContext& context) {
  const auto nodes = util::parse_unsigned(context.env.get_or("SLURM_JOB_NUM_NODES", "1"));
  if (nodes.value_or(1) > 1 && !node.world.in_job)
    log_message(*context.system, util::LogLevel::warning,
                fmt::format("only {} of the job's {} nodes is used: this process is not a task of srun\n"
                            "hint: use srun hpcml launch … to use all nodes",
                            context.host, *nodes));
}

/// Reads the node, and decides. `first` is the world if it is already known.
LaunchDecision resolve_here(const LaunchRequest& request, const RuntimeContext& context,
                            const std::optional<World>& first = std::nullopt) {
  if (auto fault = check_request(request)) return std::move(*fault);
  auto node = read_node(request);
  if (!node) return LaunchError{"node", node.error()};
  return resolve(request, context, std::move(*node), SystemNodeQueries(context), first);
}

LauncherFailure setup_failure(const std::string& phase, const util::Error& error,
                              const RuntimeContext& context) {
  return {k_cannot_set_up, phase, error, {}, context.host};
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
  return report_failure({k_cannot_set_up, why.phase, why.error, place, context.host}, context.env,
                        *context.system);
}

} // namespace

int perform(const LaunchRequest& request, const RuntimeContext& context, const ResolvedLaunch& resolved) {
  const auto& node = resolved.node;
  const bool starts = resolved.starts_ranks;
  if (starts) warn_of_idle_nodes(*node, context);
  auto caches = open_caches(node->plan.caches, node->cache_paths);
  if (!caches) return give_up(request, context, {"cache", caches.error(), node->world, !starts});
  const auto become = [&] {
    return exec_rank(make_rank_setup(request, node, node->world.layout.local_rank), request, context);
  };
  const int save_signal = find_save_signal(context.env);
  const auto& layout = node->world.layout;
  if (!starts)
    return save_signal == 0
               ? become()
               : run_handing_on(*context.system, save_signal, location_of(layout, context.host), become);
  LaunchOutcome outcome;
  {
    store::SharedStoreActivity connected;
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
  for (auto& cache : *caches) release_cache(cache);
  if (outcome.signal != 0) end_step_by_signal(*context.system, outcome.signal, context.env);
  return outcome.code;
}

std::variant<ResolvedLaunch, LauncherFailure> resolve_ranks(const LaunchRequest& request,
                                                            const RuntimeContext& context) {
  auto decision = resolve_here(request, context);
  if (const auto* failed = std::get_if<LaunchError>(&decision))
    return setup_failure(failed->phase, failed->error, context);
  auto& resolved = std::get<ResolvedLaunch>(decision);
  if (resolved.starts_ranks) return std::move(resolved);
  return setup_failure(
      "layout",
      {"options of the agent (such as --max-restarts) need one task per node, but this task is one rank",
       "use one task per node and --nproc-per-node: srun --ntasks-per-node=1 hpcml launch "
       "--nproc-per-node N …"},
      context);
}

std::variant<PreparedRanks, LauncherFailure> prepare_ranks(const LaunchRequest& request,
                                                           const RuntimeContext& context, const World& first,
                                                           const std::optional<ResolvedLaunch>& planned) {
  auto resolved = planned ? adopt_world(*planned, request, context, first) : std::nullopt;
  if (!resolved) {
    auto decision = resolve_here(request, context, first);
    if (const auto* failed = std::get_if<LaunchError>(&decision))
      return setup_failure(failed->phase, failed->error, context);
    resolved = std::move(std::get<ResolvedLaunch>(decision));
  }
  auto caches = open_caches(resolved->node->plan.caches, resolved->node->cache_paths);
  if (!caches) return setup_failure("cache", caches.error(), context);
  return PreparedRanks{std::move(resolved->node), std::move(*caches)};
}

int run_launch(const LaunchRequest& request, const RuntimeContext& context) {
  const auto decision = resolve_here(request, context);
  if (const auto* failed = std::get_if<LaunchError>(&decision)) return give_up(request, context, *failed);
  return perform(request, context, std::get<ResolvedLaunch>(decision));
}

Result<std::string> describe_launch(const LaunchRequest& request, const RuntimeContext& context) {
  const auto decision = resolve_here(request, context);
  if (const auto* failed = std::get_if<LaunchError>(&decision)) return failed->error;
  return render_dry_run(std::get<ResolvedLaunch>(decision), request);
}

} // namespace hpcml::launch
