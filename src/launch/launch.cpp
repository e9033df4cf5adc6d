// SPDX-License-Identifier: MIT
#include "launch/launch.hpp"

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
    narrate("hpcml launch: warning: this is no task of srun, so only " + here.host + " of the job's " + std::to_string(*nodes) +
            " nodes is used; srun hpcml launch … uses them all");
}

/// Ranks to start here: what was asked for; outside a step one per visible GPU, at least one.
unsigned processes_to_start(const LaunchRequest& request, const Surroundings& here, const NodeView& node) {
  if (request.processes_per_node) return *request.processes_per_node;
  const auto gpus = find_visible_gpus(here.env, "", static_cast<unsigned>(node.devices.size()));
  return gpus.entries.empty() ? 1U : static_cast<unsigned>(gpus.entries.size());
}

bool spawns(const LaunchRequest& request, const Surroundings& here) {
  return request.processes_per_node.has_value() || !in_task(request, here.env);
}

Result<World> first_world(const LaunchRequest& request, const Surroundings& here, const NodeView& node) {
  return spawns(request, here) ? find_spawn_world(request, here, processes_to_start(request, here, node))
                               : find_task_world(request, here);
}

int run_task(const LaunchRequest& request, const Surroundings& here, const World& world, const NodeView& node) {
  const unsigned rank = world.layout.rank;
  auto setup = plan_rank_setup(request, world, node, here.env);
  if (!setup) return fail("gpus", setup.error(), here, rank);
  if (!setup->plan.caches.empty())
    if (const auto caches = open_caches(*setup); !caches) return fail("cache", caches.error(), here, rank);
  return become_rank(*setup, request, here);
}

int run_ranks(const LaunchRequest& request, const Surroundings& here, const World& first, const NodeView& node) {
  LaunchRequest asked = request;
  asked.processes_per_node = first.layout.local_world_size;
  std::vector<RankSetup> setups;
  std::vector<unsigned> ranks;
  for (unsigned local = 0; local < first.layout.local_world_size; ++local) {
    const World world = world_of_local_rank(first, local);
    auto setup = plan_rank_setup(asked, world, node, here.env);
    if (!setup) return fail("gpus", setup.error(), here, world.layout.rank);
    ranks.push_back(world.layout.rank);
    setups.push_back(std::move(*setup));
  }
  warn_of_idle_nodes(request, here);
  auto caches = open_caches(setups.front());
  if (!caches) return fail("cache", caches.error(), here);
  for (auto& setup : setups)
    for (const auto& cache : *caches)
      for (const auto& [name, path] : cache.variables)
        if (!setup.env.get(name)) setup.env.set(name, path);
  int code = 0;
  {
    Supervisor supervisor(asked, here, ranks);
    code = supervisor.run(setups);
  }
  for (auto& cache : *caches) release_cache(cache);
  return code;
}

} // namespace

int run_launch(const LaunchRequest& request, const Surroundings& here) {
  if (request.command.empty()) return fail("layout", {"there is no command", "hpcml launch [FLAGS] -- CMD…"}, here);
  const auto node = read_node();
  if (!node) return fail("node", node.error(), here);
  const auto world = first_world(request, here, *node);
  if (!world) return fail("layout", world.error(), here);
  return spawns(request, here) ? run_ranks(request, here, *world, *node) : run_task(request, here, *world, *node);
}

Result<std::string> describe_launch(const LaunchRequest& request, const Surroundings& here) {
  const auto node = read_node();
  if (!node) return node.error();
  const auto world = first_world(request, here, *node);
  if (!world) return world.error();
  LaunchRequest asked = request;
  const bool spawn = spawns(request, here);
  if (spawn) asked.processes_per_node = world->layout.local_world_size;
  std::string text;
  for (unsigned local = 0; local < (spawn ? world->layout.local_world_size : 1U); ++local) {
    const World place = spawn ? world_of_local_rank(*world, local) : *world;
    auto setup = plan_rank_setup(asked, place, *node, here.env);
    if (!setup) return setup.error();
    const auto caches = cache_paths(*setup);
    if (!caches) return caches.error();
    for (std::size_t i = 0; i < caches->size(); ++i)
      for (const auto& [name, below] : setup->plan.caches[i].variables)
        if (!setup->env.get(name)) setup->changes.emplace_back(name, (*caches)[i] + (below.empty() ? "" : "/" + below));
    if (spawn) text += (local > 0 ? "\n# rank " : "# rank ") + std::to_string(place.layout.rank) + "\n";
    text += render_dry_run(*setup, *caches, request.command);
  }
  return text;
}

} // namespace hpcml::launch
