// SPDX-License-Identifier: MIT
// The line that gets the same resources with a shell on them.
#include <algorithm>

#include "render/script.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::render {

namespace {

/// Options of sbatch that salloc and srun do not have, or that make no sense for a shell.
bool is_for_batch_only(const std::string& name) {
  static const std::vector<std::string> k_names = {"--output", "--error", "--input", "--requeue", "--no-requeue", "--array", "--open-mode",
                                                   "--export", "--wait", "--parsable", "--signal", "--wait-all-nodes", "--ignore-pbs"};
  return std::find(k_names.begin(), k_names.end(), name) != k_names.end();
}

std::optional<std::string> value_of(const model::Plan& plan, const std::string& name) {
  for (const auto& directive : plan.directives)
    if (directive.name == name) return directive.value;
  return std::nullopt;
}

/// The line is for a person's own shell: single quotes keep "!" from its history.
void add(std::string& line, const std::string& word) { line += (line.empty() ? "" : " ") + util::shell_quote(word); }

std::string render_idev(const model::Plan& plan) {
  std::string line = "idev";
  const auto option = [&](const char* flag, const std::optional<std::string>& value) {
    if (!value) return;
    add(line, flag);
    add(line, *value);
  };
  option("-p", value_of(plan, "--partition"));
  option("-N", std::to_string(plan.layout.nodes));
  option("-n", std::to_string(plan.layout.nodes * plan.layout.tasks_per_node));
  option("-t", value_of(plan, "--time"));
  option("-A", value_of(plan, "--account"));
  return line;
}

} // namespace

std::string render_interactive(const model::Plan& plan) {
  if (plan.interactive == "idev") return render_idev(plan) + "\n";
  const bool step = plan.interactive == "srun";
  std::string line = step ? "srun" : "salloc";
  for (const auto& directive : plan.directives)
    if (!is_for_batch_only(directive.name)) add(line, directive.value ? directive.name + "=" + *directive.value : directive.name);
  // A shell wants one task with all that the node's ranks would have.
  if (step) line += " --pty bash -i";
  return line + "\n";
}

} // namespace hpcml::render
