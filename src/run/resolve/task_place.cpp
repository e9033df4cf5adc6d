// SPDX-License-Identifier: MIT
#include "run/resolve/task_place.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/model/mpi_ranks.hpp"
#include "core/slurm/step_order.hpp"
#include "core/util/host_names.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

/// The launcher of the site that started this task. A profile need not know its variables: MPI's own are
/// looked for then.
std::optional<model::LauncherRule> launcher_of_site(const LaunchRequest& request,
                                                    const util::EnvSnapshot& env) {
  if (!request.site) return std::nullopt;
  for (const auto& rule : request.site->launchers) {
    if (slurm::in_launcher_task(env, rule)) return rule;
    if (rule.name == "srun" || !rule.world_size_variable.empty()) continue;
    for (const auto& known : model::k_mpi_ranks) {
      if (!rule.rank_variable.empty() && rule.rank_variable != known.rank) continue;
      auto completed = rule;
      completed.rank_variable = known.rank;
      completed.world_size_variable = known.world_size;
      if (completed.local_rank_variable.empty()) completed.local_rank_variable = known.local_rank;
      if (slurm::in_launcher_task(env, completed)) return completed;
      // A rank that is known only by the site's own variable is one of the job's tasks: starting ranks
      // from it would multiply them.
      if (rule.rank_variable.empty() || env.get_or(known.rank, "").empty()) continue;
      completed.world_size_variable = "SLURM_NTASKS";
      return completed;
    }
  }
  return std::nullopt;
}

/// The launcher that started this task, whatever the profile knows. Below a batch script or a task of srun
/// MPI's variables may be those of a world that the job was submitted from.
std::optional<model::LauncherRule> launcher_of_task(const LaunchRequest& request,
                                                    const util::EnvSnapshot& env, TaskStarter starter) {
  if (auto rule = launcher_of_site(request, env)) return rule;
  if (starter != TaskStarter::mpi && starter != TaskStarter::unknown && starter != TaskStarter::below)
    return std::nullopt;
  for (const auto& known : model::k_mpi_ranks) {
    model::LauncherRule rule;
    rule.name = "mpirun";
    rule.rank_variable = known.rank;
    rule.world_size_variable = known.world_size;
    rule.local_rank_variable = known.local_rank;
    if (slurm::in_launcher_task(env, rule)) return rule;
  }
  return std::nullopt;
}

std::optional<std::string> first_node(const slurm::StepTaskPosition& layout, const util::EnvSnapshot& env,
                                      const NodeQueries& queries, RankZeroNodeRule first, bool of_component) {
  if ((first == RankZeroNodeRule::of_tasks ? layout.rank : layout.node_rank) == 0) return layout.host;
  if (of_component) return std::nullopt; // the list of nodes may look right, and be in another order
  if (first == RankZeroNodeRule::of_nodes)
    return layout.numbered ? std::optional(layout.nodes.front()) : std::nullopt;
  const auto file = env.get_or("SLURM_HOSTFILE", "");
  return slurm::node_of_first_rank(env, layout, file.empty() ? std::string() : queries.text_of_file(file));
}

Result<TaskPlace> place_in_step(const util::EnvSnapshot& env, const NodeQueries& queries,
                                slurm::StepTaskPosition layout, RankZeroNodeRule first, bool of_component) {
  TaskPlace place{std::move(layout), slurm::read_step_identity(env), {}};
  const auto& front = place.layout.nodes.front();
  if (place.layout.rank == 0 && place.layout.host != front && place.layout.numbered &&
      slurm::spans_components(env, place.layout))
    return Error{
        fmt::format("rank 0 is on {}, but the other components of the heterogeneous job expect it on {}, "
                    "their first node",
                    place.layout.host, front),
        fmt::format("use a node list of the first component that begins with {}, or another --distribution",
                    front)};
  const auto address = first_node(place.layout, env, queries, first, of_component);
  if (address) {
    place.first_node = *address;
    return place;
  }
  const auto nodes = queries.step_nodes();
  if (!nodes) return slurm::unknown_first_node(env, place.layout, nodes.error().what);
  // In a heterogeneous job Slurm is asked for the first component only.
  if (of_component || !place.layout.numbered) TRY_DONE(slurm::take_step_nodes(*nodes, place.layout));
  place.first_node = first == RankZeroNodeRule::of_tasks ? nodes->first : nodes->names.front();
  return place;
}

/// The launcher has made no other world: its numbers are the step's, as with srun --mpi=pmix. An agent for
/// each node, started by srun, has its own step: of as many tasks as its ranks, it may be.
bool agrees_with(const util::EnvSnapshot& env, const model::LauncherRule& rule,
                 const slurm::StepTaskPosition& layout) {
  const auto is = [&](const std::string& name, unsigned number) {
    return env.get_or(name, "") == std::to_string(number);
  };
  return is(rule.world_size_variable, layout.world_size) && is(rule.rank_variable, layout.rank) &&
         (env.get_or(rule.local_rank_variable, "").empty() ||
          is(rule.local_rank_variable, layout.local_rank));
}

/// MPI's launchers start at the job's first node, unless hosts are given: then MASTER_ADDR must name rank
/// 0's node, which rank 0 checks.
Result<TaskPlace> place_by_launcher(const ProcessContext& environment, const model::LauncherRule& rule) {
  const auto& env = environment.env;
  TRY(auto layout, slurm::read_launcher_layout(
                       env, rule, environment.machine.empty() ? environment.host : environment.machine));
  TaskPlace place{layout, slurm::read_launcher_identity(env, rule), layout.nodes.front(), true};
  const auto address = util::short_host_name(env.get_or("MASTER_ADDR", ""));
  for (const auto& node : layout.nodes)
    if (!address.empty() && util::short_host_name(node) == address) place.first_node = node;
  if (layout.rank == 0 && layout.host != place.first_node)
    return Error{
        address.empty()
            ? fmt::format("rank 0 runs on {}, but the other ranks expect it on {}, the first node of the "
                          "job",
                          layout.host, place.first_node)
            : fmt::format("rank 0 runs on {}, but the other ranks expect it on {}, which MASTER_ADDR "
                          "names",
                          layout.host, place.first_node),
        fmt::format(
            "set MASTER_ADDR={0} before {1} (Open MPI: mpirun -x MASTER_ADDR={0}), or use a host list that "
            "begins with {2}",
            layout.host, rule.name, place.first_node)};
  return place;
}

} // namespace

TaskStarter starter_of(const ProcessContext& environment) {
  return evaluate_ancestors(environment.ancestors, environment.env.get_or("SLURM_JOB_ID", ""));
}

bool in_task(const LaunchRequest& request, const ProcessContext& environment) {
  const auto starter = starter_of(environment);
  return (starter != TaskStarter::script && slurm::in_step_task(environment.env)) ||
         launcher_of_task(request, environment.env, starter).has_value();
}

Result<TaskPlace> find_task_place(const LaunchRequest& request, const ProcessContext& environment,
                                  const NodeQueries& queries, RankZeroNodeRule first) {
  const auto starter = starter_of(environment);
  const auto rule = launcher_of_task(request, environment.env, starter);
  if (starter != TaskStarter::script && slurm::in_step_task(environment.env)) {
    auto layout = slurm::read_step_layout(environment.env);
    const bool by_step =
        starter == TaskStarter::task || starter == TaskStarter::component ||
        (starter != TaskStarter::mpi && layout && rule && agrees_with(environment.env, *rule, *layout));
    if (!rule || by_step) {
      if (!layout) return layout.error();
      return place_in_step(environment.env, queries, std::move(*layout), first,
                           starter == TaskStarter::component);
    }
  }
  if (rule) return place_by_launcher(environment, *rule);
  return Error{"this process is not a task of a step: SLURM_PROCID and SLURM_STEP_NODELIST are not set",
               "use srun, or --nproc-per-node N to start the ranks on this node"};
}

} // namespace hpcml::launch
