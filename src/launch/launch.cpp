// SPDX-License-Identifier: MIT
#include "launch/launch.hpp"

#include <algorithm>

#include "launch/become_rank.hpp"
#include "launch/report.hpp"
#include "launch/supervisor.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

using util::Result;

namespace {

int fail(const std::string& phase, const util::Error& error, const Surroundings& here,
         std::optional<unsigned> rank = std::nullopt) {
  // Where the layout itself is in doubt, Slurm's number of the task still tells whose failure this is.
  const auto task = util::parse_unsigned(here.env.get_or("SLURM_PROCID", ""));
  if (!rank && slurm::in_step_task(here.env) && task && *task < 10000000) rank = static_cast<unsigned>(*task);
  return report_failure({k_cannot_set_up, phase, error, rank, here.host}, here.env);
}

/// Without srun the other nodes of the job stay idle, and nobody would notice.
void warn_of_idle_nodes(const LaunchRequest& request, const Surroundings& here) {
  const auto nodes = util::parse_unsigned(here.env.get_or("SLURM_JOB_NUM_NODES", "1"));
  if (nodes.value_or(1) > 1 && !in_task(request, here.env))
    narrate("hpcml launch: warning: this is no task of srun, so only " + here.host + " of the job's " +
            std::to_string(*nodes) + " nodes is used; srun hpcml launch … uses them all");
}

/// Ranks to start here: what was asked for; outside a step as many as the visible GPUs are enough for, at
/// least one.
unsigned processes_to_start(const LaunchRequest& request, const Surroundings& here, const NodeView& node) {
  if (request.processes_per_node) return *request.processes_per_node;
  const unsigned per_rank = request.gpus_per_task.value_or(1);
  if (per_rank == 0) return 1;
  const auto gpus = find_visible_gpus(here.env, "", static_cast<unsigned>(node.gpus.places.size()));
  return std::max(1U, static_cast<unsigned>(gpus.entries.size()) / per_rank);
}

bool spawns(const LaunchRequest& request, const Surroundings& here) {
  return request.processes_per_node.has_value() || !in_task(request, here.env);
}

Result<World> first_world(const LaunchRequest& request, const Surroundings& here, const NodeView& node) {
  return spawns(request, here) ? find_spawn_world(request, here, processes_to_start(request, here, node))
                               : find_task_world(request, here);
}

/// One setup per rank of this process, or what kept one from being made.
struct Setups {
  LaunchRequest request; ///< with the number of ranks that are started here
  std::vector<RankSetup> ranks;
  std::optional<util::Error> error;
  unsigned failed_rank = 0;
};

Setups plan_setups(const LaunchRequest& request, const Surroundings& here, const World& first,
                   const NodeView& node) {
  Setups setups{request, {}, {}, 0};
  const bool spawn = spawns(request, here);
  if (spawn) setups.request.processes_per_node = first.layout.local_world_size;
  for (unsigned local = 0; local < (spawn ? first.layout.local_world_size : 1U); ++local) {
    const World world = spawn ? world_of_local_rank(first, local) : first;
    auto setup = plan_rank_setup(setups.request, world, node, here.env);
    if (!setup) {
      setups.error = setup.error();
      setups.failed_rank = world.layout.rank;
      return setups;
    }
    setups.ranks.push_back(std::move(*setup));
  }
  return setups;
}

int become_task(RankSetup& setup, const LaunchRequest& request, const Surroundings& here) {
  if (!setup.plan.caches.empty())
    if (const auto caches = open_caches(setup); !caches)
      return fail("cache", caches.error(), here, setup.world.layout.rank);
  return become_rank(setup, request, here);
}

int run_ranks(Setups& setups, const Surroundings& here) {
  warn_of_idle_nodes(setups.request, here);
  auto caches = open_caches(setups.ranks.front());
  if (!caches) return fail("cache", caches.error(), here);
  std::vector<unsigned> ranks;
  for (auto& setup : setups.ranks) {
    ranks.push_back(setup.world.layout.rank);
    for (const auto& cache : *caches)
      for (const auto& [name, path] : cache.variables)
        if (!setup.env.get(name)) setup.env.set(name, path);
  }
  int code = 0;
  {
    Supervisor supervisor(setups.request, here, ranks);
    code = supervisor.run(setups.ranks);
  }
  for (auto& cache : *caches) release_cache(cache);
  return code;
}

} // namespace

int run_launch(const LaunchRequest& request, const Surroundings& here) {
  if (request.command.empty())
    return fail("layout", {"there is no command", "hpcml launch [FLAGS] -- CMD…"}, here);
  const auto node = read_node(request);
  if (!node) return fail("node", node.error(), here);
  const auto world = first_world(request, here, *node);
  if (!world) return fail("layout", world.error(), here);
  auto setups = plan_setups(request, here, *world, *node);
  if (setups.error) return fail("gpus", *setups.error, here, setups.failed_rank);
  return spawns(request, here) ? run_ranks(setups, here)
                               : become_task(setups.ranks.front(), setups.request, here);
}

Result<std::string> describe_launch(const LaunchRequest& request, const Surroundings& here) {
  const auto node = read_node(request);
  if (!node) return node.error();
  const auto world = first_world(request, here, *node);
  if (!world) return world.error();
  auto setups = plan_setups(request, here, *world, *node);
  if (setups.error) return *setups.error;
  std::string text;
  for (auto& setup : setups.ranks) {
    const auto caches = cache_paths(setup);
    if (!caches) return caches.error();
    for (std::size_t i = 0; i < caches->size(); ++i)
      for (const auto& [name, below] : setup.plan.caches[i].variables)
        if (!setup.env.get(name))
          setup.changes.emplace_back(name, (*caches)[i] + (below.empty() ? "" : "/" + below));
    if (spawns(request, here))
      text += (text.empty() ? "# rank " : "\n# rank ") + std::to_string(setup.world.layout.rank) + "\n";
    text += render_dry_run(setup, *caches, request.command);
  }
  return text;
}

} // namespace hpcml::launch
