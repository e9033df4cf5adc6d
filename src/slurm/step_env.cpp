// SPDX-License-Identifier: MIT
#include "slurm/step_env.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "model/hostlist.hpp"
#include "util/text.hpp"

namespace hpcml::slurm {

using util::Done;
using util::Error;
using util::Result;
using util::Status;

namespace {

constexpr unsigned k_max_nodes = 100000;
constexpr unsigned k_max_tasks = 10000000;

struct Variable {
  std::string name;
  std::string value;
};

std::optional<Variable> first_set(const util::EnvSnapshot& env, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto value = env.get(name);
    if (value && !value->empty()) return Variable{name, *value};
  }
  return std::nullopt;
}

Error missing(const std::vector<std::string>& names) {
  return Error{
      names.front() + " is not set, so the layout of the step is unknown",
      "start hpcml launch with srun, and keep Slurm's variables (no --export=NONE, no env -i in between)"};
}

Result<unsigned> read_number(const util::EnvSnapshot& env, const std::vector<std::string>& names) {
  const auto variable = first_set(env, names);
  if (!variable) return missing(names);
  const auto number = util::parse_unsigned(variable->value);
  if (!number || *number > k_max_tasks)
    return Error{variable->name + "='" + variable->value + "' is not a number of tasks or nodes",
                 "these variables are Slurm's; look for a line that sets " + variable->name};
  return static_cast<unsigned>(*number);
}

/// Components of a heterogeneous step are numbered by component, which need not be the order of the names.
std::vector<std::string> in_component_order(const util::EnvSnapshot& env, std::vector<std::string> nodes) {
  const auto size = util::parse_unsigned(env.get_or("SLURM_HET_SIZE", ""));
  if (!size) return nodes;
  std::vector<std::string> ordered;
  for (unsigned long long group = 0; group < *size && group < 1000; ++group) {
    const auto list =
        model::Hostlist::parse(env.get_or("SLURM_JOB_NODELIST_HET_GROUP_" + std::to_string(group), ""));
    if (list) ordered.insert(ordered.end(), list->names().begin(), list->names().end());
  }
  auto left = ordered, right = nodes;
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right ? ordered : nodes;
}

struct NodeList {
  Variable variable;
  std::vector<std::string> names;
};

Result<NodeList> read_nodes(const util::EnvSnapshot& env, const std::vector<std::string>& names) {
  const auto variable = first_set(env, names);
  if (!variable) return missing(names);
  auto list = model::Hostlist::parse(variable->value);
  if (!list) return util::with_context(list.error(), variable->name + "='" + variable->value + "'");
  if (list->size() == 0) return Error{variable->name + "='" + variable->value + "' names no node"};
  return NodeList{*variable, list->names()};
}

Error contradiction(const std::string& what) {
  return Error{
      what, "these variables come from different steps or were changed; look for SLURM_ variables that the "
            "script sets, or that the submitting shell passed on (sbatch --export)"};
}

Status check_layout(const StepLayout& layout) {
  const auto total = std::accumulate(layout.tasks_per_node.begin(), layout.tasks_per_node.end(), 0ULL);
  if (layout.tasks_per_node.size() != layout.nodes.size())
    return contradiction("SLURM_STEP_TASKS_PER_NODE tells of " +
                         std::to_string(layout.tasks_per_node.size()) + " nodes, SLURM_STEP_NODELIST of " +
                         std::to_string(layout.nodes.size()));
  if (total != layout.world_size)
    return contradiction("SLURM_STEP_TASKS_PER_NODE adds up to " + std::to_string(total) +
                         " tasks, SLURM_STEP_NUM_TASKS is " + std::to_string(layout.world_size));
  if (layout.rank >= layout.world_size)
    return contradiction("SLURM_PROCID is " + std::to_string(layout.rank) + ", but the step has " +
                         std::to_string(layout.world_size) + " tasks");
  if (layout.node_rank >= layout.nodes.size())
    return contradiction("SLURM_NODEID is " + std::to_string(layout.node_rank) + ", but the step has " +
                         std::to_string(layout.nodes.size()) + " nodes");
  if (layout.local_rank >= layout.local_world_size)
    return contradiction("SLURM_LOCALID is " + std::to_string(layout.local_rank) + ", but node " +
                         layout.nodes[layout.node_rank] + " has " + std::to_string(layout.local_world_size) +
                         " tasks");
  return Done{};
}

/// A job submitted from inside another job's step inherits that step's variables.
Status check_node_name(const util::EnvSnapshot& env, const StepLayout& layout) {
  const auto here = env.get_or("SLURMD_NODENAME", "");
  if (here.empty() || here == layout.nodes[layout.node_rank]) return Done{};
  return contradiction("this task is on node " + here +
                       " (SLURMD_NODENAME), but SLURM_STEP_NODELIST and SLURM_NODEID say " +
                       layout.nodes[layout.node_rank]);
}

} // namespace

Result<std::vector<unsigned>> parse_tasks_per_node(std::string_view text) {
  std::vector<unsigned> counts;
  std::size_t offset = 0;
  for (const auto& piece : util::split(text, ',')) {
    const Error bad{
        "'" + std::string(text) + "' is not a list of task counts like 2,1 or 4(x2),3", {}, offset};
    offset += piece.size() + 1;
    std::string_view count = piece;
    unsigned long long repeat = 1;
    const auto open = piece.find("(x");
    if (open != std::string::npos) {
      if (piece.back() != ')') return bad;
      const auto times =
          util::parse_unsigned(std::string_view(piece).substr(open + 2, piece.size() - open - 3));
      if (!times || *times == 0) return bad;
      repeat = *times;
      count = count.substr(0, open);
    }
    const auto tasks = util::parse_unsigned(count);
    if (!tasks || *tasks == 0 || *tasks > k_max_tasks || repeat > k_max_nodes - counts.size()) return bad;
    counts.insert(counts.end(), static_cast<std::size_t>(repeat), static_cast<unsigned>(*tasks));
  }
  return counts;
}

bool in_step_task(const util::EnvSnapshot& env) {
  return first_set(env, {"SLURM_PROCID"}) && first_set(env, {"SLURM_STEP_NODELIST", "SLURM_STEP_NUM_TASKS"});
}

Result<StepLayout> read_step_layout(const util::EnvSnapshot& env) {
  StepLayout layout;
  const std::pair<unsigned*, std::vector<std::string>> numbers[] = {
      {&layout.rank, {"SLURM_PROCID"}},
      {&layout.world_size, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}},
      {&layout.local_rank, {"SLURM_LOCALID"}},
      {&layout.node_rank, {"SLURM_NODEID"}},
  };
  for (const auto& [target, names] : numbers) {
    const auto number = read_number(env, names);
    if (!number) return number.error();
    *target = *number;
  }
  auto nodes = read_nodes(env, {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"});
  if (!nodes) return nodes.error();
  layout.nodes = in_component_order(env, nodes->names);
  const std::vector<std::string> count_names = {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"};
  const auto counts_variable = first_set(env, count_names);
  if (!counts_variable) return missing(count_names);
  auto counts = parse_tasks_per_node(counts_variable->value);
  if (!counts) return util::with_context(counts.error(), counts_variable->name);
  layout.tasks_per_node = *counts;
  if (layout.node_rank < layout.tasks_per_node.size())
    layout.local_world_size = layout.tasks_per_node[layout.node_rank];
  if (const auto sound = check_layout(layout); !sound) return sound.error();
  if (const auto sound = check_node_name(env, layout); !sound) return sound.error();
  return layout;
}

Result<std::string> node_of_first_rank(const util::EnvSnapshot& env, const StepLayout& layout,
                                       std::string_view hosts) {
  const bool arbitrary = util::starts_with(util::to_lower(env.get_or("SLURM_DISTRIBUTION", "")), "arbitrary");
  if (!arbitrary || layout.nodes.size() < 2) return layout.nodes.front();
  if (layout.rank == 0) return layout.nodes[layout.node_rank];
  const auto first = std::string(hosts.substr(0, hosts.find_first_of(" \t\r\n*")));
  if (std::find(layout.nodes.begin(), layout.nodes.end(), first) != layout.nodes.end()) return first;
  return Error{
      "where rank 0 is cannot be told: with --distribution=arbitrary it is on the first node of the "
      "list that was given, and no file that SLURM_HOSTFILE names has it",
      "give the list by SLURM_HOSTFILE=FILE, one node per task, where every node can read it; or leave "
      "--distribution out"};
}

StepIdentity read_step_identity(const util::EnvSnapshot& env) {
  const auto number = [&](const std::vector<std::string>& names) -> unsigned long long {
    const auto variable = first_set(env, names);
    return variable ? util::parse_unsigned(variable->value).value_or(util::fnv1a(variable->value) % 1000003)
                    : 0;
  };
  return {number({"SLURM_JOB_ID", "SLURM_JOBID"}), number({"SLURM_STEP_ID", "SLURM_STEPID"}),
          number({"SLURM_RESTART_COUNT"})};
}

} // namespace hpcml::slurm
