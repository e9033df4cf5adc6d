// SPDX-License-Identifier: MIT
#include "generate/import_script/intent.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "core/util/text.hpp"
#include "core/util/text_table.hpp"

namespace hpcml::import_script {
namespace {

constexpr std::size_t k_widest = 60;

/// A value that fits into its column.
std::string cut(const std::string& text) {
  if (text.size() <= k_widest) return text;
  auto end = k_widest - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end; // within a character
  return text.substr(0, end) + "...";
}

std::string or_none(const std::string& text) { return text.empty() ? "-" : text; }

std::string ranks_text(const JobIntent& intent) {
  if (!intent.is_known) return "as many as the site has GPUs";
  return fmt::format("{} ({} x {})", intent.world(), util::counted(intent.nodes, "node"),
                     intent.ranks_per_node);
}

std::string gpus_text(const JobIntent& intent) {
  if (!intent.is_known) return "one";
  if (intent.gpus_per_node > 0 && intent.gpus_per_rank() == 0)
    return fmt::format("{} for {} ranks of a node", intent.gpus_per_node, intent.ranks_per_node);
  return std::to_string(intent.gpus_per_rank());
}

std::string runs_text(StepRuns runs) {
  switch (runs) {
  case StepRuns::in_batch: return "in the batch script";
  case StepRuns::once: return "once";
  case StepRuns::per_node: return "once on each node";
  default: return "once per rank";
  }
}

/// The steps of the plan, with those that stay in the batch script at their place in the old script.
std::vector<IntentStep> steps_of(const model::Plan& plan, const std::vector<IntentStep>& before) {
  std::vector<IntentStep> planned, steps;
  if (plan.body)
    for (const auto& piece : plan.body->pieces)
      if (!piece.launch.command.empty())
        planned.push_back({util::join(piece.launch.command, " "), runs_of(piece.launch)});
  auto next = planned.begin();
  for (const auto& step : before)
    if (step.runs == StepRuns::in_batch)
      steps.push_back(step);
    else if (next != planned.end())
      steps.push_back(*next++);
  steps.insert(steps.end(), next, planned.end());
  return steps;
}

/// The place of an environment, or its packages.
std::string python_text(const model::PlannedPython& python) {
  return python.where.empty() ? util::join(python.packages, " ") : python.where;
}

void add_software(const model::Plan& plan, const JobIntent& before, JobIntent& intent) {
  if (plan.container) {
    intent.image = plan.container->image;
    for (const auto& bind : plan.container->binds)
      if (bind.origin.kind != model::OriginKind::site)
        intent.binds.push_back(bind.target.empty() ? bind.source : bind.source + ":" + bind.target);
  }
  if (before.keeps_environment)
    intent.environment = before.environment;
  else if (plan.python.kind != model::PythonKind::none)
    intent.environment = fmt::format("{} {}", model::word_of(plan.python.kind), python_text(plan.python));
  for (const auto& module : plan.modules) intent.modules.push_back(module.name);
  if (plan.body) // those that stay in its text
    intent.modules.insert(intent.modules.end(), plan.body->modules.begin(), plan.body->modules.end());
}

} // namespace

StepRuns runs_of(const model::ImportedLaunch& launch) {
  return launch.once ? StepRuns::once : launch.per_node ? StepRuns::per_node : StepRuns::per_rank;
}

JobIntent intent_of(const model::Plan& plan, const JobIntent& before) {
  JobIntent intent;
  intent.is_known = true;
  intent.nodes = plan.layout.nodes;
  intent.ranks_per_node = plan.layout.ranks_per_node;
  intent.gpus_per_node = plan.layout.gpus_per_rank * plan.layout.ranks_per_node;
  if (intent.gpus_per_node == 0) intent.gpus_per_node = plan.layout.gpus_per_node;
  intent.steps = steps_of(plan, before.steps);
  add_software(plan, before, intent);
  std::copy_if(before.variables.begin(), before.variables.end(), std::back_inserter(intent.variables),
               [&](const auto& name) {
                 const auto& lost = before.lost_variables;
                 return std::find(lost.begin(), lost.end(), name) == lost.end();
               });
  return intent;
}

std::string render_intents(const std::string& file, const JobIntent& before, const std::string& site,
                           const JobIntent& after) {
  std::vector<std::vector<std::string>> rows{{" ", "", file, site}};
  const auto add = [&](const std::string& what, const std::string& old, const std::string& now,
                       bool differs) {
    if (old.empty() && now.empty()) return;
    rows.push_back({differs ? "*" : " ", what, cut(or_none(old)), cut(or_none(now))});
  };
  const auto add_texts = [&](const std::string& what, const std::string& old, const std::string& now) {
    add(what, old, now, old != now);
  };
  add("ranks", ranks_text(before), ranks_text(after), before.is_known && before.world() != after.world());
  add("GPUs per rank", gpus_text(before), gpus_text(after),
      before.is_known && before.gpus_per_rank() != after.gpus_per_rank());
  for (std::size_t i = 0; i < std::max(before.steps.size(), after.steps.size()); ++i) {
    const auto has_step = [&](const JobIntent& intent) { return i < intent.steps.size(); };
    const auto program = [&](const JobIntent& intent) {
      return has_step(intent) ? intent.steps[i].program : std::string();
    };
    const auto runs = [&](const JobIntent& intent) {
      return has_step(intent) ? runs_text(intent.steps[i].runs) : std::string();
    };
    add_texts("program", program(before), program(after));
    add_texts("  runs", runs(before), runs(after));
  }
  add_texts("image", before.image, after.image);
  add_texts("environment", before.environment, after.environment);
  add_texts("binds", util::join(before.binds, " "), util::join(after.binds, " "));
  add_texts("modules", util::join(before.modules, " "), util::join(after.modules, " "));
  add_texts("variables", util::join(before.variables, " "), util::join(after.variables, " "));
  return util::render_columns(rows);
}

diag::Diagnostics compare_intents(const std::string& file, const JobIntent& before, const JobIntent& after) {
  if (!before.is_known ||
      (before.world() == after.world() && before.gpus_per_rank() == after.gpus_per_rank()))
    return {};
  return {{diag::Severity::error,
           "port/intent",
           fmt::format("the old script starts {} with {} each, but the new job would start {} with {} each",
                       util::counted(before.world(), "rank"), util::counted(before.gpus_per_rank(), "GPU"),
                       util::counted(after.world(), "rank"), util::counted(after.gpus_per_rank(), "GPU")),
           {file},
           "use --nodes, --tasks-per-node and --gpus-per-node to set the numbers"}};
}

} // namespace hpcml::import_script
