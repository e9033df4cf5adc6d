// SPDX-License-Identifier: MIT
// The commands of a script that is ported, with its launches as this site starts them.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/shell/shell_names.hpp"
#include "core/util/text.hpp"
#include "generate/render/sections.hpp"

namespace hpcml::render {
namespace {

/// A variable that Slurm sets only where the request has the option.
struct RequestVariable {
  const char* name;
  const char* option;
  unsigned (*value)(const model::PlannedLayout&);
};

/// What each task has of something that the plan counts by the rank: an agent's task has that of all its
/// ranks.
unsigned by_task(unsigned of_rank, const model::PlannedLayout& layout) {
  return layout.tasks_per_node == 0 ? of_rank : of_rank * layout.ranks_per_node / layout.tasks_per_node;
}

constexpr std::array<RequestVariable, 8> k_request_variables = {{
    {"SLURM_CPUS_PER_TASK", "--cpus-per-task",
     [](const model::PlannedLayout& l) { return by_task(l.cpus_per_rank, l); }},
    {"SLURM_GPUS_PER_NODE", "--gpus-per-node", [](const model::PlannedLayout& l) { return l.gpus_per_node; }},
    {"SLURM_GPUS_ON_NODE", "--gpus-per-node", [](const model::PlannedLayout& l) { return l.gpus_per_node; }},
    {"SLURM_GPUS_PER_TASK", "--gpus-per-task",
     [](const model::PlannedLayout& l) { return by_task(l.gpus_per_rank, l); }},
    {"SLURM_GPUS", "--gpus", [](const model::PlannedLayout& l) { return l.gpus_per_node * l.nodes; }},
    {"SLURM_NTASKS_PER_NODE", "--ntasks-per-node",
     [](const model::PlannedLayout& l) { return l.tasks_per_node; }},
    {"SLURM_NTASKS", "--ntasks-per-node",
     [](const model::PlannedLayout& l) { return l.tasks_per_node * l.nodes; }},
    {"SLURM_NPROCS", "--ntasks-per-node",
     [](const model::PlannedLayout& l) { return l.tasks_per_node * l.nodes; }},
}};

bool reads_variable(const std::string& text, const std::string& name) {
  for (auto at = shell::find_name(text, name); at != std::string::npos;
       at = shell::find_name(text, name, at + 1))
    if (text.substr(at + name.size(), 1) != "=") return true;
  return false;
}

/// Whether the variable has the option's text, a type of GPU included: "a100:2".
bool has_type(const RequestVariable& variable, const model::PlannedDirective& directive) {
  return std::string_view(variable.name) != "SLURM_GPUS_ON_NODE" &&
         directive.value.value_or("").find(':') != std::string::npos;
}

/// Adds the list of devices that commands of the old script read, if the site sets none.
void add_devices(const model::Plan& plan, ScriptLines& lines) {
  if (!plan.body->lacks_visible_devices || plan.layout.gpus_per_node == 0) return;
  std::string devices = "0";
  for (unsigned i = 1; i < plan.layout.gpus_per_node; ++i) devices += "," + std::to_string(i);
  lines.push_back(
      Verbatim{"CUDA_VISIBLE_DEVICES=" + devices + " # read below, and not set in jobs of this site",
               by_rule("commands of the old script read it")});
}

/// A line that sets the variable. Exports only the number of CPUs,
/// because srun reads the other variables as its options.
Verbatim set_variable(const RequestVariable& variable, unsigned value, bool exports, bool is_read,
                      const char* otherwise) {
  return {fmt::format("{}{}={} # {}, and {}", exports ? "export " : "", variable.name, value,
                      is_read ? "read below" : "files below may read it", otherwise),
          by_rule("commands of the old script read it")};
}

/// Whether Slurm counts GPUs of a whole node in the variable that the job does not use.
bool counts_idle_gpus(const model::Plan& plan, const RequestVariable& variable) {
  return plan.body->has_idle_gpus && std::string_view(variable.name) == "SLURM_GPUS_ON_NODE";
}

/// What the variable is in the new job without a line that sets it.
const char* describe_unset(bool typed, bool idle) {
  if (typed) return "set with a type by this request";
  return idle ? "set to all GPUs of the node by Slurm" : "not set by this request";
}

/// A variable as the request of the old script had Slurm set it, for the commands that stay. Numbers of the
/// whole step: an agent's tasks are fewer than its ranks, and the old script's variables counted ranks or
/// tasks as it asked for them.
ScriptLines kept_variables(const model::Plan& plan, const std::string& text) {
  ScriptLines lines;
  const bool has_masks = !mask_lines(plan).empty();
  for (const auto& variable : k_request_variables) {
    const auto directive =
        std::find_if(plan.directives.begin(), plan.directives.end(),
                     [&](const auto& candidate) { return candidate.name == variable.option; });
    const bool typed = directive != plan.directives.end() && has_type(variable, *directive);
    const bool counts_cpus = std::string_view(variable.name) == "SLURM_CPUS_PER_TASK";
    const bool unset = counts_cpus && has_masks;
    const bool idle = counts_idle_gpus(plan, variable);
    const bool set = directive != plan.directives.end() && !typed && !unset && !idle;
    const auto value = variable.value(plan.layout);
    const bool is_read = reads_variable(text, variable.name);
    const bool by_file = util::contains(plan.body->variables_of_files, std::string(variable.name));
    if (set || value == 0 || (!is_read && !by_file)) continue;
    lines.push_back(set_variable(variable, value, by_file && counts_cpus && !has_masks, is_read,
                                 describe_unset(typed, idle)));
  }
  add_devices(plan, lines);
  return lines;
}

JobStepLine ported_step(const JobStepInput& step) {
  if (step.program.per_node)
    return single_step(step, per_node_words(step.plan),
                       "a step of the old script with one process on each node");
  return program_step(step);
}

} // namespace

ScriptLines ported_lines(const model::Plan& plan, const std::vector<std::string>& step_args) {
  auto lines = mask_lines(plan);
  const auto& body = *plan.body;
  lines.push_back(Comment{"From here on " + body.file + ", with its launches written for this site.",
                          by_rule("the script that is ported")});
  lines.push_back(CommandLine{literals({"set", "+euo", "pipefail"}),
                              by_rule("the old script was written without these")});
  std::string text, read;
  Reasons reasons;
  for (const auto& piece : body.pieces) {
    text += piece.text;
    read += piece.text;
    if (piece.launch.command.empty()) continue;
    read += " " + util::join(piece.launch.source, " ") + "\n";
    const auto step = ported_step({plan, piece.launch, step_args});
    text += render_line(step);
    if (reasons.empty()) reasons = step.reasons;
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (auto& line : kept_variables(plan, read)) lines.push_back(std::move(line));
  lines.push_back(Verbatim{text, reasons});
  return lines;
}

} // namespace hpcml::render
