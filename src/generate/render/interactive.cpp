// SPDX-License-Identifier: MIT
// The line that gets the same resources with a shell on them.
#include "generate/render/interactive.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "core/diag/visible_text.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/word.hpp"

namespace hpcml::render {

namespace {

using model::PlannedDirective;

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Options of sbatch that salloc and srun do not have, or that make no sense for a shell.
bool is_for_batch_only(const std::string& name) {
  return is_one_of(name, {"--output", "--error", "--input", "--requeue", "--no-requeue", "--array",
                          "--open-mode", "--export", "--export-file", "--get-user-env", "--signal",
                          "--wait-all-nodes", "--ignore-pbs", "--batch", "--kill-on-invalid-dep",
                          "--propagate", "--hold", "--external"});
}

bool is_requested(const PlannedDirective& directive) {
  using model::OriginKind;
  const auto kind = directive.origin.kind;
  return kind == OriginKind::flag || kind == OriginKind::environment || kind == OriginKind::job_file;
}

/// Adds a word. The line is for the user's shell: single quotes protect "!" from its history.
void add(std::string& line, const std::string& word) {
  const bool plain = diag::visible_text(word) == word;
  line += (line.empty() ? "" : " ") + (plain ? util::shell_quote(word) : quote_word(word));
}

/// A program of the site's own, which has other names for the options and not all of them.
InteractiveLine make_by_own_options(const model::Plan& plan) {
  const auto& options = plan.interactive.options;
  const auto& implied = plan.interactive.implied;
  InteractiveLine line{plan.interactive.program, {}, {}};
  const auto option = [&](const std::string& name, const std::optional<std::string>& value) {
    const auto known = options.find(name);
    if (known == options.end()) return false;
    add(line.text, known->second);
    if (value) add(line.text, *value);
    return true;
  };
  const bool nodes = option("nodes", std::to_string(plan.layout.nodes));
  const bool tasks = option("ntasks", std::to_string(plan.layout.nodes * plan.layout.tasks_per_node));
  for (const auto& directive : plan.directives) {
    const auto name = directive.name.substr(2);
    if ((nodes && name == "nodes") || (tasks && name == "ntasks-per-node") ||
        std::find(implied.begin(), implied.end(), name) != implied.end())
      continue;
    if (is_for_batch_only(directive.name) || name == "job-name")
      line.pointless.push_back(directive);
    else if (!option(name, directive.value))
      line.missing.push_back(directive);
  }
  return line;
}

/// One task per node with all that the node's ranks would have, or the shell would sit on one rank's share.
PlannedDirective for_one_task(PlannedDirective directive, unsigned tasks) {
  const auto times = [&](const std::string& text) {
    const auto number = util::parse_unsigned(text);
    return number ? std::to_string(*number * tasks) : text;
  };
  if (directive.name == "--ntasks-per-node") directive.value = "1";
  if (directive.name == "--cpus-per-task") directive.value = times(directive.value.value_or(""));
  if (directive.name == "--gpus-per-task") {
    const auto text = directive.value.value_or("");
    const auto colon = text.rfind(':');
    const auto start = colon == std::string::npos ? 0 : colon + 1;
    directive = {"--gpus-per-node", text.substr(0, start) + times(text.substr(start)), directive.origin};
  }
  return directive;
}

/// The launcher's options in the shell's own step: within the one task of that the ranks are to be counted
/// again.
std::vector<std::string> step_args_in_shell(const model::Plan& plan) {
  auto args = plan.launcher.step_args;
  if (plan.interactive.program != "srun" || !plan.launcher.by_srun()) return args;
  if (!plan.launcher.spawns) {
    const auto tasks = plan.layout.nodes * plan.layout.tasks_per_node;
    args.insert(args.begin(), "--ntasks-per-node=" + std::to_string(plan.layout.tasks_per_node));
    args.insert(args.begin(), "--ntasks=" + std::to_string(tasks));
    // The shell has the SLURM_DISTRIBUTION of its step, which placed one task on each node in turn.
    const bool is_set = std::any_of(plan.directives.begin(), plan.directives.end(),
                                    [](const auto& directive) { return directive.name == "--distribution"; });
    if (!is_set) args.push_back("--distribution=block");
  }
  args.push_back("--overlap");
  return args;
}

/// The plan without caches, which have a default, and with steps that share the nodes with the shell's.
model::Plan in_shell(model::Plan plan) {
  plan.caches.clear();
  if (plan.interactive.program == "srun" && plan.launcher.by_srun())
    plan.launcher.per_node_args.emplace_back("--overlap");
  return plan;
}

} // namespace

InteractiveLine make_interactive(const model::Plan& plan) {
  InteractiveLine line;
  if (!plan.interactive.options.empty()) {
    line = make_by_own_options(plan);
  } else {
    const bool step = plan.interactive.program == "srun";
    line.text = plan.interactive.program;
    for (const auto& directive : plan.directives) {
      if (is_for_batch_only(directive.name))
        line.pointless.push_back(directive);
      else
        add(line.text, (step ? for_one_task(directive, plan.layout.tasks_per_node) : directive).word());
    }
    // The shell's own step must leave room for the steps that are started from it.
    if (step) line.text += " --overlap --cpu-bind=none --pty bash -i";
  }
  for (auto* list : {&line.pointless, &line.missing})
    list->erase(std::remove_if(list->begin(), list->end(),
                               [](const auto& directive) { return !is_requested(directive); }),
                list->end());
  return line;
}

diag::Diagnostics find_unset(const InteractiveLine& line) {
  diag::Diagnostics findings;
  for (const auto& directive : line.pointless)
    findings.push_back({diag::Severity::warning,
                        "request/interactive",
                        fmt::format("{} has no effect in an interactive job", directive.word()),
                        {},
                        "remove the option, or remove --interactive to write a batch script"});
  const auto program = line.text.substr(0, line.text.find(' '));
  for (const auto& directive : line.missing)
    findings.push_back({diag::Severity::error,
                        "request/interactive",
                        fmt::format("{} has no option for {}, which this interactive job requests", program,
                                    directive.word()),
                        {},
                        "remove the option, or remove --interactive to write a batch script"});
  return findings;
}

std::string render_interactive_lines(const model::Plan& plan, bool with_program) {
  std::string text;
  const auto add_lines = [&](const ScriptLines& lines) {
    for (const auto& line : lines)
      for (const auto& part : util::split(render_line(line), '\n'))
        if (!part.empty() && part.front() != '#') text += part + "\n";
  };
  add_lines(make_software(plan));
  if (with_program) {
    if (plan.launcher.choice.is_hpcml()) text += "HPCML=" + util::shell_quote(plan.hpcml_path.value) + "\n";
    add_lines(make_shell_node_setup(in_shell(plan)));
    add_lines(make_shell_rendezvous(plan));
    add_lines(make_environment(in_shell(plan)));
    add_lines(make_step(in_shell(plan), step_args_in_shell(plan)));
  }
  return text.empty() ? text : "# then, in its shell, as the batch script has it:\n" + text;
}

std::string render_interactive(const model::Plan& plan) { return make_interactive(plan).text + "\n"; }

} // namespace hpcml::render
