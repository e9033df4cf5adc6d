// SPDX-License-Identifier: MIT
#include "run/resolve/world.hpp"

#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "core/util/text.hpp"
#include "run/resolve/agreement.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/resolve/task_place.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

World world_of_place(TaskPlace place) {
  World world;
  world.in_job = true;
  world.layout = std::move(place.layout);
  world.identity = place.identity;
  world.first_node = std::move(place.first_node);
  world.by_launcher = place.by_launcher;
  return world;
}

/// Returns the requested port, or the one that is already set for all ranks; nothing if neither.
Result<std::optional<unsigned>> given_port(const LaunchRequest& request, const util::EnvSnapshot& env) {
  const auto text = env.get_or("MASTER_PORT", "");
  if (request.master_port) {
    if (!text.empty() && text != std::to_string(*request.master_port))
      return Error{
          fmt::format("--master-port is {}, but MASTER_PORT={} is already set", *request.master_port, text),
          "remove --master-port, or run `unset MASTER_PORT` before"};
    return std::optional(*request.master_port);
  }
  if (text.empty()) return std::optional<unsigned>();
  const auto port = util::parse_unsigned(text);
  if (!port || *port == 0 || *port > 65535)
    return Error{fmt::format("MASTER_PORT='{}' is not a valid port", text),
                 "remove this variable: hpcml launch chooses a port for each step"};
  return std::optional(static_cast<unsigned>(*port));
}

util::Status set_rendezvous_point(const LaunchRequest& request, const ProcessContext& environment,
                                  World& world) {
  const std::string suffix = request.site ? request.site->network.master.suffix : "";
  if (world.first_node.empty()) world.first_node = world.layout.nodes.front();
  world.address = step_address(environment.env, world.first_node, suffix);
  TRY(const auto port, given_port(request, environment.env));
  world.port = port.value_or(step_port(world.identity));
  world.port_given = port.has_value();
  return util::Success{};
}

/// One rank, and ranks that do not wait for each other, need no key.
util::Status set_channel(const LaunchRequest& request, const NodeQueries& queries, bool starts_all_ranks,
                         World& world) {
  if (!model::needs_rendezvous(request.rank_settings, world.layout.world_size)) return util::Success{};
  TRY(world.channel, queries.job_channel(world.identity, starts_all_ranks));
  return util::Success{};
}

} // namespace

Result<World> find_task_world(const LaunchRequest& request, const ProcessContext& environment,
                              const NodeQueries& queries) {
  TRY(auto place, find_task_place(request, environment, queries, RankZeroNodeRule::of_tasks));
  World world = world_of_place(std::move(place));
  TRY_DONE(set_rendezvous_point(request, environment, world));
  TRY_DONE(agree_with_environment(environment, queries, world, false));
  TRY_DONE(set_channel(request, queries, false, world));
  return world;
}

Result<World> find_spawn_world(const LaunchRequest& request, const ProcessContext& environment,
                               const NodeQueries& queries, unsigned processes) {
  World world;
  world.layout.nodes = {environment.host};
  world.layout.host = environment.host;
  if (in_task(request, environment)) {
    // The ranks are counted along the nodes, however the tasks are.
    TRY(auto task, find_task_place(request, environment, queries, RankZeroNodeRule::of_nodes));
    if (task.layout.local_world_size != 1)
      return Error{
          fmt::format("--nproc-per-node starts the ranks of a node, but this step has {} tasks on this node",
                      task.layout.local_world_size),
          fmt::format("use one task per node (srun --ntasks={} --ntasks-per-node=1), or remove "
                      "--nproc-per-node",
                      task.layout.node_count())};
    world = world_of_place(std::move(task));
  } else {
    world.identity = slurm::read_step_identity(environment.env);
  }
  auto& layout = world.layout;
  layout.tasks_per_node.assign(layout.nodes.size(), processes);
  layout.local_rank = 0;
  layout.local_world_size = processes;
  layout.rank = layout.node_rank * processes;
  layout.world_size = processes * layout.node_count();
  if (layout.node_count() > 1) {
    TRY_DONE(set_rendezvous_point(request, environment, world));
    TRY_DONE(agree_with_environment(environment, queries, world, true));
    TRY_DONE(set_channel(request, queries, false, world));
    return world;
  }
  TRY_DONE(set_channel(request, queries, true, world));
  world.address = "127.0.0.1";
  TRY(const auto port, given_port(request, environment.env));
  if (port) {
    world.port = *port;
    world.port_given = true;
  } else {
    TRY(world.port, queries.free_port());
  }
  return world;
}

World world_of_local_rank(const World& first, unsigned local_rank) {
  World world = first;
  world.layout.local_rank = local_rank;
  const auto& counts = world.layout.tasks_per_node;
  world.layout.rank =
      std::accumulate(counts.begin(), counts.begin() + world.layout.node_rank, 0U) + local_rank;
  return world;
}

std::vector<std::pair<std::string, std::string>> rank_variables(const World& world) {
  const auto& layout = world.layout;
  return {{"RANK", std::to_string(layout.rank)},
          {"LOCAL_RANK", std::to_string(layout.local_rank)},
          {"WORLD_SIZE", std::to_string(layout.world_size)},
          {"LOCAL_WORLD_SIZE", std::to_string(layout.local_world_size)},
          {"NODE_RANK", std::to_string(layout.node_rank)},
          {"GROUP_RANK", std::to_string(layout.node_rank)},
          {"MASTER_ADDR", world.address},
          {"MASTER_PORT", std::to_string(world.port)}};
}

std::vector<std::pair<std::string, std::string>> agent_variables(const World& world) {
  if (!world.agent) return {};
  const auto& agent = *world.agent;
  const auto rank = std::to_string(world.layout.rank);
  return {{"ROLE_NAME", agent.role},
          {"ROLE_RANK", rank},
          {"ROLE_WORLD_SIZE", std::to_string(world.layout.world_size)},
          {"GROUP_WORLD_SIZE", std::to_string(world.layout.node_count())},
          {"TORCHELASTIC_RESTART_COUNT", std::to_string(agent.restarts)},
          {"TORCHELASTIC_MAX_RESTARTS", std::to_string(agent.max_restarts)},
          {"TORCHELASTIC_RUN_ID", agent.run_id},
          {"TORCHELASTIC_ERROR_FILE", agent.error_directory + "/" + rank + "/error.json"},
          {"HPCML_PROGRESS_FILE", agent.error_directory + "/" + rank + "/progress"}};
}

std::string rendezvous_step(const World& world) {
  const auto step = std::to_string(world.identity.step);
  return world.agent ? step + "." + world.agent->run_id + "." + std::to_string(world.agent->serial) : step;
}

} // namespace hpcml::launch
