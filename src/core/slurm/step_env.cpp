// SPDX-License-Identifier: MIT
#include "core/slurm/step_env.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <optional>

#include "core/model/hostlist.hpp"
#include "core/slurm/step_order.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {

using util::Error;
using util::Result;
using util::Status;
using util::Success;

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
      fmt::format("{} is not set, so the layout of the step is unknown", names.front()),
      "use srun to start hpcml launch, and keep Slurm's variables (no --export=NONE, no env -i in between)"};
}

Result<unsigned> read_number(const util::EnvSnapshot& env, const std::vector<std::string>& names) {
  const auto variable = first_set(env, names);
  if (!variable) return missing(names);
  const auto number = util::parse_unsigned(variable->value);
  if (!number || *number > k_max_tasks)
    return Error{fmt::format("{}='{}' is not a valid number, so the layout of the step is unknown",
                             variable->name, variable->value),
                 fmt::format("remove the line that sets {}: Slurm sets this variable", variable->name)};
  return static_cast<unsigned>(*number);
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
  if (list->size() == 0)
    return Error{fmt::format("{}='{}' names no node, so the layout of the step is unknown", variable->name,
                             variable->value),
                 fmt::format("remove the line that sets {}: Slurm sets this variable", variable->name)};
  return NodeList{*variable, std::move(*list).take()};
}

Error contradiction(const std::string& what) {
  return Error{what, "check for SLURM_ variables that the script sets, or that the submitting shell passed "
                     "on (sbatch --export)"};
}

Status check_layout(const StepTaskPosition& layout) {
  const auto total = std::accumulate(layout.tasks_per_node.begin(), layout.tasks_per_node.end(), 0ULL);
  if (layout.tasks_per_node.size() != layout.nodes.size())
    return contradiction(fmt::format("SLURM_STEP_TASKS_PER_NODE has {} nodes, but SLURM_STEP_NODELIST has {}",
                                     layout.tasks_per_node.size(), layout.nodes.size()));
  if (total != layout.world_size)
    return contradiction(
        fmt::format("SLURM_STEP_TASKS_PER_NODE adds up to {} tasks, but SLURM_STEP_NUM_TASKS is {}", total,
                    layout.world_size));
  if (layout.rank >= layout.world_size)
    return contradiction(
        fmt::format("SLURM_PROCID is {}, but the step has {} tasks", layout.rank, layout.world_size));
  if (layout.node_rank >= layout.nodes.size())
    return contradiction(
        fmt::format("SLURM_NODEID is {}, but the step has {} nodes", layout.node_rank, layout.nodes.size()));
  if (layout.local_rank >= layout.local_world_size)
    return contradiction(fmt::format("SLURM_LOCALID is {}, but node {} has {} tasks", layout.local_rank,
                                     layout.host, layout.local_world_size));
  return Success{};
}

/// Finds this task's node in the list. A job submitted from inside another job's step may have inherited that
/// step's variables: then it is not in it.
Status find_own_node(const util::EnvSnapshot& env, StepTaskPosition& layout) {
  const auto own_name = env.get_or("SLURMD_NODENAME", "");
  const auto& nodes = layout.nodes;
  std::size_t place = layout.node_rank;
  const bool right = own_name.empty() || (place < nodes.size() && nodes[place] == own_name);
  const auto found = std::find(nodes.begin(), nodes.end(), own_name);
  layout.numbered = right || found == nodes.end();
  if (!layout.numbered) place = static_cast<std::size_t>(found - nodes.begin());
  if (place >= nodes.size()) return Success{}; // check_layout says it
  layout.host = nodes[place];
  if (place < layout.tasks_per_node.size()) layout.local_world_size = layout.tasks_per_node[place];
  if (right || !layout.numbered) return Success{};
  return contradiction(fmt::format(
      "this task is on node {} (SLURMD_NODENAME), but SLURM_STEP_NODELIST and SLURM_NODEID name {}", own_name,
      nodes[place]));
}

/// The file names one host for each task, as many on each node as there are, and this node for its own
/// tasks.
bool fits(const StepTaskPosition& layout, const std::vector<std::string>& own_tasks,
          const std::vector<std::string>& hosts) {
  if (hosts.size() < layout.world_size || hosts[layout.rank] != layout.host) return false;
  for (const auto& text : own_tasks)
    if (const auto task = util::parse_unsigned(text);
        task && *task < layout.world_size && hosts[*task] != layout.host)
      return false;
  std::map<std::string, unsigned> counts;
  for (unsigned task = 0; task < layout.world_size; ++task) ++counts[hosts[task]];
  for (std::size_t i = 0; i < layout.nodes.size(); ++i)
    if (counts[layout.nodes[i]] != layout.tasks_per_node[i]) return false;
  return true;
}

} // namespace

Result<std::vector<unsigned>> parse_tasks_per_node(std::string_view text) {
  std::vector<unsigned> counts;
  std::size_t offset = 0;
  for (const auto& piece : util::split(text, ',')) {
    const Error bad{fmt::format("'{}' is not a list of task counts like 2,1 or 4(x2),3", text), {}, offset};
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

Result<StepTaskPosition> read_step_layout(const util::EnvSnapshot& env) {
  StepTaskPosition layout;
  const std::pair<unsigned*, std::vector<std::string>> numbers[] = {
      {&layout.rank, {"SLURM_PROCID"}},
      {&layout.world_size, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}},
      {&layout.local_rank, {"SLURM_LOCALID"}},
      {&layout.node_rank, {"SLURM_NODEID"}},
  };
  for (const auto& [target, names] : numbers) {
    TRY(*target, read_number(env, names));
  }
  TRY(auto nodes, read_nodes(env, {"SLURM_STEP_NODELIST", "SLURM_NODELIST", "SLURM_JOB_NODELIST"}));
  layout.nodes = std::move(nodes.names);
  const std::vector<std::string> count_names = {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"};
  const auto counts_variable = first_set(env, count_names);
  if (!counts_variable) return missing(count_names);
  auto counts = parse_tasks_per_node(counts_variable->value);
  if (!counts) return util::with_context(counts.error(), counts_variable->name);
  layout.tasks_per_node = std::move(*counts);
  put_components_in_order(env, layout);
  const auto found = find_own_node(env, layout);
  TRY_DONE(check_layout(layout));
  if (!found) return found.error();
  return layout;
}

std::optional<std::string> node_of_first_rank(const util::EnvSnapshot& env, const StepTaskPosition& layout,
                                              std::string_view hosts) {
  if (layout.rank == 0) return layout.host;
  if (!layout.numbered) return std::nullopt;
  const bool arbitrary = util::to_lower(env.get_or("SLURM_DISTRIBUTION", "")).starts_with("arbitrary");
  if (!arbitrary || layout.nodes.size() < 2) return layout.nodes.front();
  const auto tasks = util::split(env.get_or("SLURM_GTIDS", ""), ','); // of this node
  if (tasks.front() == "0") return layout.host;
  // Tasks of a node are numbered in their order: the first of this one is not the step's first.
  const bool elsewhere = layout.local_rank == 0 || !tasks.front().empty();
  if (elsewhere && layout.nodes.size() == 2)
    return layout.nodes.front() == layout.host ? layout.nodes.back() : layout.nodes.front();
  const auto listed = read_host_file(hosts);
  return fits(layout, tasks, listed) ? std::optional(listed.front()) : std::nullopt;
}

Error unknown_first_node(const util::EnvSnapshot& env, const StepTaskPosition& layout,
                         const std::string& why) {
  if (!layout.numbered && layout.node_rank < layout.nodes.size()) {
    auto error = contradiction(fmt::format(
        "this task is on node {} (SLURMD_NODENAME), but SLURM_STEP_NODELIST and SLURM_NODEID name {}",
        layout.host, layout.nodes[layout.node_rank]));
    error.what += fmt::format("; Slurm cannot be asked which is right: {}", why);
    return error;
  }
  if (!util::to_lower(env.get_or("SLURM_DISTRIBUTION", "")).starts_with("arbitrary"))
    return Error{
        fmt::format("the node of rank 0 is unknown: the step spans several job components, and {}", why),
        "use #SBATCH hetjob and srun --het-group=0,1 to start the step, so that its tasks get the node list"};
  return Error{
      fmt::format("the node of rank 0 is unknown: with --distribution=arbitrary a host list names it, but "
                  "the file in SLURM_HOSTFILE does not have the nodes of this step, and {}",
                  why),
      "set SLURM_HOSTFILE=FILE with one node per task, readable on every node, or remove --distribution"};
}

Status take_step_nodes(const StepNodes& nodes, StepTaskPosition& layout) {
  if (layout.node_rank >= nodes.names.size() || nodes.names[layout.node_rank] != layout.host)
    return contradiction(fmt::format(
        "this task is on node {} (SLURMD_NODENAME), but Slurm's layout of the step has another as node {}",
        layout.host, layout.node_rank));
  layout.nodes = nodes.names;
  layout.tasks_per_node = nodes.tasks;
  layout.numbered = true;
  return Success{};
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
