// SPDX-License-Identifier: MIT
#include "launch/world.hpp"

#include <numeric>
#include <optional>

#include "launch/rendezvous.hpp"
#include "model/mpi_ranks.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

/// The launcher of the site that started this task. A profile need not know its variables: MPI's own are
/// looked for then.
std::optional<model::LauncherRule> launcher_of_task(const LaunchRequest& request,
                                                    const util::EnvSnapshot& env) {
  if (!request.site) return std::nullopt;
  for (const auto& rule : request.site->launchers) {
    if (slurm::in_launcher_task(env, rule)) return rule;
    if (rule.name == "srun" || !rule.world_size_variable.empty()) continue;
    for (const auto& known : model::k_mpi_ranks) {
      if (!rule.rank_variable.empty() && rule.rank_variable != known.rank) continue;
      auto told = rule;
      told.rank_variable = known.rank;
      told.world_size_variable = known.world_size;
      if (told.local_rank_variable.empty()) told.local_rank_variable = known.local_rank;
      if (slurm::in_launcher_task(env, told)) return told;
      // A rank by the site's own name that is not told how many there are is one of the job's tasks: starting
      // more from it would multiply them.
      if (rule.rank_variable.empty() || env.get_or(known.rank, "").empty()) continue;
      told.world_size_variable = "SLURM_NTASKS";
      return told;
    }
  }
  return std::nullopt;
}

/// Slurm's own step, unless a launcher inside it has made another world (ibrun starts one task per node by
/// srun).
Result<World> read_world(const LaunchRequest& request, const Surroundings& here) {
  const auto rule = launcher_of_task(request, here.env);
  World world;
  world.in_job = true;
  world.identity = slurm::read_step_identity(here.env);
  if (slurm::in_step_task(here.env)) {
    auto layout = slurm::read_step_layout(here.env);
    const bool same = layout && rule &&
                      here.env.get_or(rule->world_size_variable, "") == std::to_string(layout->world_size) &&
                      here.env.get_or(rule->rank_variable, "") == std::to_string(layout->rank);
    if (!rule || same) {
      if (!layout) return layout.error();
      world.layout = *layout;
      const auto file = here.env.get_or("SLURM_HOSTFILE", "");
      const auto hosts = file.empty() ? std::string() : util::read_file(file).value_or("");
      const auto first = slurm::node_of_first_rank(here.env, *layout, hosts);
      if (!first) return first.error();
      world.first_node = *first;
      return world;
    }
  }
  if (!rule)
    return Error{
        "this process is no task of a step: Slurm's SLURM_PROCID and SLURM_STEP_NODELIST are not set",
        "start it with srun, or say --nproc-per-node N to start the ranks here"};
  auto layout = slurm::read_launcher_layout(here.env, *rule, here.host);
  if (!layout) return layout.error();
  world.layout = *layout;
  return world;
}

/// The port that was asked for, or that somebody has set for all ranks already; nothing if neither.
Result<std::optional<unsigned>> given_port(const LaunchRequest& request, const util::EnvSnapshot& env) {
  const auto text = env.get_or("MASTER_PORT", "");
  if (request.master_port) {
    if (!text.empty() && text != std::to_string(*request.master_port))
      return Error{"--master-port is " + std::to_string(*request.master_port) + ", but MASTER_PORT=" + text +
                       " is set already",
                   "leave one of them out"};
    return std::optional(*request.master_port);
  }
  if (text.empty()) return std::optional<unsigned>();
  const auto port = util::parse_unsigned(text);
  if (!port || *port == 0 || *port > 65535)
    return Error{"MASTER_PORT='" + text + "' is no port", "unset it: hpcml launch chooses one per step"};
  return std::optional(static_cast<unsigned>(*port));
}

util::Status set_meeting_point(const LaunchRequest& request, const Surroundings& here, World& world) {
  const std::string suffix = request.site ? request.site->network.master.suffix : "";
  if (world.first_node.empty()) world.first_node = world.layout.nodes.front();
  world.address = step_address(here.env, world.first_node, suffix);
  const auto port = given_port(request, here.env);
  if (!port) return port.error();
  world.port = port->value_or(step_port(world.identity));
  return util::Done{};
}

/// Variables that somebody else has set must say the same: two launchers would build two worlds.
util::Status check_existing(const Surroundings& here, World& world) {
  std::vector<std::string> conflicts;
  for (const auto& [name, value] : rank_variables(world)) {
    if (name == "MASTER_ADDR" || name == "MASTER_PORT") continue;
    const auto existing = here.env.get_or(name, "");
    if (!existing.empty() && existing != value)
      conflicts.push_back(name + "=" + existing + " (here: " + value + ")");
  }
  const auto address = here.env.get_or("MASTER_ADDR", "");
  if (!address.empty() && address != world.address) {
    if (may_be_host(address, world.first_node, world.layout.rank == 0))
      world.address = address;
    else
      conflicts.push_back("MASTER_ADDR=" + address + " (here: " + world.address + ")");
  }
  if (conflicts.empty()) return util::Done{};
  return Error{
      "the environment contradicts the step: " + util::join(conflicts, ", "),
      "remove what sets these variables (an export in the script, a container hook, another launcher): "
      "set before srun they are the same for every rank"};
}

} // namespace

bool in_task(const LaunchRequest& request, const util::EnvSnapshot& env) {
  return slurm::in_step_task(env) || launcher_of_task(request, env).has_value();
}

Result<World> find_task_world(const LaunchRequest& request, const Surroundings& here) {
  auto world = read_world(request, here);
  if (!world) return world;
  if (const auto set = set_meeting_point(request, here, *world); !set) return set.error();
  if (const auto agreed = check_existing(here, *world); !agreed) return agreed.error();
  return world;
}

Result<World> find_spawn_world(const LaunchRequest& request, const Surroundings& here, unsigned processes) {
  World world;
  world.layout.nodes = {here.host};
  if (in_task(request, here.env)) {
    auto task = read_world(request, here);
    if (!task) return task;
    if (task->layout.local_world_size != 1)
      return Error{"--nproc-per-node starts the ranks of a node, but this step has " +
                       std::to_string(task->layout.local_world_size) + " tasks on this node",
                   "give srun one task per node (--ntasks=" + std::to_string(task->layout.node_count()) +
                       " --ntasks-per-node=1), or leave --nproc-per-node out"};
    world = *task;
  } else {
    world.identity = slurm::read_step_identity(here.env);
  }
  auto& layout = world.layout;
  world.first_node.clear(); // the ranks are counted along the nodes here, however the tasks are
  layout.tasks_per_node.assign(layout.nodes.size(), processes);
  layout.local_rank = 0;
  layout.local_world_size = processes;
  layout.rank = layout.node_rank * processes;
  layout.world_size = processes * layout.node_count();
  if (layout.node_count() > 1) {
    if (const auto set = set_meeting_point(request, here, world); !set) return set.error();
    return world;
  }
  world.address = "127.0.0.1";
  const auto port = given_port(request, here.env);
  if (!port) return port.error();
  if (*port)
    world.port = **port;
  else if (auto free = free_loopback_port(); free)
    world.port = *free;
  else
    return free.error();
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

unsigned side_port(unsigned port) {
  const unsigned offset = port >= plan::k_first_port ? port - plan::k_first_port
                                                     : port; // one that a person chose may lie outside
  return plan::k_first_port + (offset + plan::k_port_count / 2) % plan::k_port_count;
}

} // namespace hpcml::launch
