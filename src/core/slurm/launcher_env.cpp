// SPDX-License-Identifier: MIT
// Layout of a task that ibrun, mpirun or another launcher started, from the variables the site's profile
// names.
#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "core/model/hostlist.hpp"
#include "core/model/mpi_ranks.hpp"
#include "core/slurm/step_env.hpp"
#include "core/util/host_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

using util::Error;
using util::Result;

namespace {

std::optional<unsigned> number_of(const util::EnvSnapshot& env, const std::string& name) {
  if (name.empty()) return std::nullopt;
  const auto number = util::parse_unsigned(env.get_or(name, ""));
  return number && *number < 10000000 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

/// The job's counts where they describe this world; otherwise the even layout, if there is one.
Result<std::vector<unsigned>> counts_for(const util::EnvSnapshot& env, std::size_t nodes, unsigned world_size,
                                         const std::string& rank_variable) {
  const auto text = env.get_or("SLURM_TASKS_PER_NODE", "");
  if (const auto counts = parse_tasks_per_node(text);
      counts && counts->size() == nodes &&
      std::accumulate(counts->begin(), counts->end(), 0ULL) == world_size)
    return *counts;
  if (world_size % nodes == 0) return std::vector<unsigned>(nodes, static_cast<unsigned>(world_size / nodes));
  return Error{
      fmt::format("cannot determine which node has which rank ({}): {} ranks do not spread evenly over {} "
                  "nodes, and SLURM_TASKS_PER_NODE='{}' does not describe them",
                  rank_variable, world_size, nodes, text),
      "request the job with --nodes and --ntasks-per-node, so that every node has the same number of ranks"};
}

/// Nodes of the job; this node alone outside a job.
Result<std::vector<std::string>> nodes_of(const util::EnvSnapshot& env, const std::string& host) {
  for (const auto* name : {"SLURM_JOB_NODELIST", "SLURM_NODELIST"}) {
    const auto text = env.get_or(name, "");
    if (text.empty()) continue;
    auto list = model::Hostlist::parse(text);
    if (!list) return util::with_context(list.error(), std::string(name) + "='" + text + "'");
    return list->names();
  }
  return std::vector<std::string>{host};
}

const model::RankVariables* known_variables(const model::LauncherRule& rule) {
  for (const auto& known : model::k_mpi_ranks)
    if (rule.rank_variable == known.rank) return &known;
  return nullptr;
}

std::size_t place_of(const std::vector<std::string>& nodes, const std::string& host) {
  const auto own_node = std::find_if(nodes.begin(), nodes.end(), [&](const std::string& node) {
    return util::short_host_name(node) == util::short_host_name(host);
  });
  return static_cast<std::size_t>(own_node - nodes.begin());
}

/// Node after node, as many ranks on each as the job has tasks there. An error where this task's own numbers
/// or its host say otherwise.
Result<StepTaskPosition> read_blocks(const util::EnvSnapshot& env, const model::LauncherRule& rule,
                                     StepTaskPosition layout, const std::string& host) {
  if (layout.nodes.size() > layout.world_size) layout.nodes.resize(layout.world_size);
  TRY(layout.tasks_per_node, counts_for(env, layout.nodes.size(), layout.world_size, rule.rank_variable));
  unsigned before = 0;
  while (layout.rank >= before + layout.tasks_per_node[layout.node_rank])
    before += layout.tasks_per_node[layout.node_rank++];
  layout.local_world_size = layout.tasks_per_node[layout.node_rank];
  layout.local_rank = layout.rank - before;
  layout.host = layout.nodes[layout.node_rank];
  const auto not_in_blocks = [&rule](const std::string& evidence) {
    return Error{
        fmt::format("{} does not place ranks in blocks, node after node: {}", rule.name, evidence),
        fmt::format("use the option of {} that fills one node with ranks before the next", rule.name)};
  };
  const auto named = number_of(env, rule.local_rank_variable);
  if (named && *named != layout.local_rank)
    return not_in_blocks(fmt::format("{} is {}, but rank {} would have {}", rule.local_rank_variable, *named,
                                     layout.rank, layout.local_rank));
  const auto place = place_of(layout.nodes, host);
  if (place < layout.nodes.size() && place != layout.node_rank)
    return not_in_blocks(
        fmt::format("rank {} runs on {}, not on {}", layout.rank, host, layout.nodes[layout.node_rank]));
  return layout;
}

/// By the launcher's own numbers, whatever the distribution: a node's number is its place among the job's
/// nodes. Nothing where it does not give them, or this host is none of the job's.
std::optional<StepTaskPosition> read_own_numbers(const util::EnvSnapshot& env,
                                                 const model::LauncherRule& rule, StepTaskPosition layout,
                                                 const std::string& host) {
  const auto* known = known_variables(rule);
  const auto local = number_of(env, rule.local_rank_variable);
  const auto size = known != nullptr ? number_of(env, known->local_size) : std::nullopt;
  if (!local || !size || *local >= *size || *size > layout.world_size) return std::nullopt;
  auto place = place_of(layout.nodes, host);
  if (*size == layout.world_size) {
    layout.nodes = {place < layout.nodes.size() ? layout.nodes[place] : host};
    place = 0;
  }
  if (place >= layout.nodes.size()) return std::nullopt;
  layout.local_rank = *local;
  layout.local_world_size = *size;
  layout.node_rank = static_cast<unsigned>(place);
  layout.host = layout.nodes[place];
  layout.tasks_per_node.assign(layout.nodes.size(), 0); // those of the other nodes are unknown
  layout.tasks_per_node[place] = *size;
  return layout;
}

} // namespace

bool in_launcher_task(const util::EnvSnapshot& env, const model::LauncherRule& rule) {
  return number_of(env, rule.rank_variable) && number_of(env, rule.world_size_variable);
}

StepIdentity read_launcher_identity(const util::EnvSnapshot& env, const model::LauncherRule& rule) {
  auto identity = read_step_identity(env);
  const auto* known = known_variables(rule);
  const auto world = known != nullptr ? env.get_or(known->world, "") : std::string();
  identity.step = world.empty() ? 0 : util::fnv1a(world) % 1000003;
  identity.one_of_many = world.empty();
  return identity;
}

Result<StepTaskPosition> read_launcher_layout(const util::EnvSnapshot& env, const model::LauncherRule& rule,
                                              const std::string& host) {
  if (!in_launcher_task(env, rule))
    return Error{fmt::format("this task was not started by {0}: {1} or {2}, which {0} sets, is missing",
                             rule.name, rule.rank_variable, rule.world_size_variable),
                 fmt::format("use {} to start hpcml launch on this site", rule.name)};
  StepTaskPosition layout;
  layout.rank = *number_of(env, rule.rank_variable);
  layout.world_size = *number_of(env, rule.world_size_variable);
  if (layout.world_size == 0 || layout.rank >= layout.world_size)
    return Error{fmt::format("the variables of {} contradict each other: {} is {}, but {} is {}", rule.name,
                             rule.rank_variable, layout.rank, rule.world_size_variable, layout.world_size),
                 fmt::format("remove the line of the script that sets {} or {}", rule.rank_variable,
                             rule.world_size_variable)};
  TRY(layout.nodes, nodes_of(env, host));
  // Launchers hand their own environment on: SLURMD_NODENAME may be that of another node.
  const bool known = place_of(layout.nodes, host) < layout.nodes.size();
  const auto own_name = known ? host : env.get_or("SLURMD_NODENAME", host);
  if (const auto own = read_own_numbers(env, rule, layout, own_name)) return *own;
  return read_blocks(env, rule, std::move(layout), own_name);
}

} // namespace hpcml::slurm
