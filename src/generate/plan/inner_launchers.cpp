// SPDX-License-Identifier: MIT
// Launchers in commands that each rank would start again: torchrun, srun, mpirun.
#include <algorithm>
#include <fmt/format.h>

#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/plan/launch_plan.hpp"
#include "generate/plan/plan_request.hpp"

namespace hpcml::plan {
namespace {

using launch_chain::StartedLauncher;
using model::OptionMeaning;

/// How often a command is started.
struct Starts {
  unsigned per_node = 1;
  unsigned nodes = 1;
};

/// "A=1" words in front become --env, a container's image --container.
std::string flags_of_prefixes(const std::vector<std::string>& prefixes) {
  std::string text;
  for (std::size_t i = 0; i < prefixes.size(); ++i) {
    const auto& word = prefixes[i];
    const auto equals = word.find('=');
    if (equals != std::string::npos && util::is_variable_name(word.substr(0, equals)))
      text += fmt::format("--env {} ", util::shell_quote(word));
    if (launch_chain::role_of(util::base_name(word)) == launch_chain::Role::container)
      text += fmt::format("--container {} ", util::shell_quote(prefixes.back()));
  }
  return text;
}

std::optional<unsigned> number_of(const std::optional<std::string>& text) {
  const auto number = util::parse_unsigned(text.value_or(""));
  return number && *number > 0 && *number <= 1000000 ? std::optional(static_cast<unsigned>(*number))
                                                     : std::nullopt;
}

/// The ranks of a node as the launcher's options have them: srun's "-n 8 -N 2" are four.
std::optional<unsigned> tasks_of(const StartedLauncher& found) {
  if (const auto own = number_of(found.value(OptionMeaning::ranks_per_node))) return own;
  const auto all =
      number_of(found.value(found.has({OptionMeaning::ranks}) ? OptionMeaning::ranks : OptionMeaning::world));
  const auto nodes = number_of(found.value(OptionMeaning::nodes)).value_or(1);
  return all && *all % nodes == 0 ? std::optional(*all / nodes) : std::nullopt;
}

/// What to type instead of a command with a launcher in it.
std::string right_line(const StartedLauncher& found) {
  std::string flags = flags_of_prefixes(found.prefixes);
  auto command = found.command;
  // A step's own name is the site's affair.
  if (!found.row->starts_tasks && !found.is_hpcml() && found.row->ranks != model::RankStartMethod::nobody)
    flags += fmt::format("--launcher {} ", found.name);
  const auto tasks = tasks_of(found);
  if (const auto nodes = number_of(found.value(OptionMeaning::nodes)))
    flags += fmt::format("--nodes {} ", *nodes);
  if (tasks) flags += fmt::format("--tasks-per-node {} ", *tasks);
  if (const auto cpus = number_of(found.value("cpus_per_task")))
    flags += fmt::format("--cpus-per-task {} ", *cpus);
  if (found.role == launch_chain::Role::agent && !found.is_hpcml()) command = agent_program(found);
  return flags + "-- " + (found.command.empty() ? "PROGRAM" : util::shell_line(command));
}

void refuse(const RequestWithLayout& input, const StartedLauncher& found, const Starts& starts,
            PlanStepDiagnostics& diagnostics) {
  const auto all = starts.per_node * starts.nodes;
  const auto times = starts.per_node > 1 ? fmt::format("once per rank, {} times on a node", starts.per_node)
                     : all > 1           ? std::string("once on each node, unconnected with the others")
                                         : std::string("within a task that is already running");
  const auto tasks = found.role == launch_chain::Role::step;
  std::string what = fmt::format("{} starts {} itself, but would be started {}", found.written,
                                 tasks ? "the job's tasks" : "a node's processes", times);
  std::string hint = fmt::format("use {}", right_line(found));
  if (!tasks && !found.is_hpcml() && (found.in_text || !found.first))
    hint += fmt::format(
        "; or use --tasks-per-node 1 --gpus-per-node {}{} to start the command once on each node",
        input.numbers().gpus_per_node,
        starts.nodes > 1 ? fmt::format(", with the options of {} for several nodes", found.name) : "");
  diagnostics.error("usage/command", what, hint);
}

void check_command(const RequestWithLayout& input, const std::vector<std::string>& command, bool once,
                   const std::string& script, PlanStepDiagnostics& diagnostics) {
  auto found = launch_chain::find_started_launcher(command);
  if (!found && !script.empty()) found = launch_chain::find_started_launcher_in(script);
  if (!found) return;
  const auto& layout = input.numbers();
  const Starts starts = once ? Starts{} : Starts{layout.ranks_per_node, layout.nodes};
  const bool alone = starts.per_node == 1 && found->role == launch_chain::Role::agent && !found->is_hpcml();
  if (alone && (starts.nodes == 1 || found->joins_other_nodes())) return;
  refuse(input, *found, starts, diagnostics);
}

} // namespace

PlanStepDiagnostics check_inner_launchers(const RequestWithLayout& input) {
  PlanStepDiagnostics diagnostics;
  const auto& job = input.job;
  if (job.body) {
    for (const auto& piece : job.body->pieces)
      check_command(input, piece.launch.command, piece.launch.once, {}, diagnostics);
  } else if (!job.steps.empty()) {
    for (const auto& step : job.steps) check_command(input, step.command, step.once, {}, diagnostics);
  } else {
    check_command(input, job.command, false, job.command_script, diagnostics);
  }
  return diagnostics;
}

} // namespace hpcml::plan
