// SPDX-License-Identifier: MIT
#include "generate/import_script/intent.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "core/util/text_table.hpp"
#include "core/util/wrap_text.hpp"
#include "generate/import_script/assignments.hpp"

namespace hpcml::import_script {
namespace {

constexpr std::size_t k_widest = 40; ///< of a column: the table has at most 100

/// A value in lines that fit into its column. A longer word, such as a path, is divided.
std::vector<std::string> wrap(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& line : util::wrap_text(util::replace_all(text, "\n", " "), k_widest)) {
    std::size_t begin = 0;
    while (line.size() - begin > k_widest) {
      auto end = begin + k_widest;
      while ((static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end; // within a character
      lines.push_back(line.substr(begin, end - begin));
      begin = end;
    }
    lines.push_back(line.substr(begin));
  }
  return lines;
}

std::string or_none(const std::string& text) { return text.empty() ? "-" : text; }

std::string ranks_text(const JobIntent& intent) {
  if (!intent.is_known) return "as many as the site has GPUs";
  return fmt::format("{} ({} x {})", intent.world(), util::counted(intent.nodes, "node"),
                     intent.ranks_per_node);
}

/// "8 ranks with 1 GPU each", "4 ranks of a node that share 1 GPU".
std::string world_text(const JobIntent& intent) {
  if (intent.gpus_per_node > 0 && intent.gpus_per_rank() == 0)
    return fmt::format("{} of a node that share {}", util::counted(intent.ranks_per_node, "rank"),
                       util::counted(intent.gpus_per_node, "GPU"));
  return fmt::format("{} with {} each", util::counted(intent.world(), "rank"),
                     util::counted(intent.gpus_per_rank(), "GPU"));
}

std::string gpus_text(const JobIntent& intent) {
  if (!intent.is_known) return "one";
  if (intent.gpus_per_node > 0 && intent.gpus_per_rank() == 0)
    return fmt::format("{} for {} ranks of a node", intent.gpus_per_node, intent.ranks_per_node);
  return std::to_string(intent.gpus_per_rank());
}

std::string runs_text(StepMultiplicity runs) {
  switch (runs) {
  case StepMultiplicity::in_batch: return "in the batch script";
  case StepMultiplicity::once: return "once";
  case StepMultiplicity::per_node: return "once on each node";
  default: return "once per rank";
  }
}

/// The program of a step and how often it runs; empty if there is none.
std::pair<std::string, std::string> step_texts(const JobIntent& intent, std::size_t index) {
  if (index >= intent.steps.size()) return {};
  return {intent.steps[index].program, runs_text(intent.steps[index].runs)};
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
    if (step.runs == StepMultiplicity::in_batch)
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
  else if (plan.python.kind != model::PythonEnvironmentKind::none)
    intent.environment = fmt::format("{} {}", model::word_of(plan.python.kind), python_text(plan.python));
  for (const auto& module : plan.modules) intent.modules.push_back(module.name);
  if (plan.body) // those that stay in its text
    intent.modules.insert(intent.modules.end(), plan.body->modules.begin(), plan.body->modules.end());
}

/// The variables that the new job sets, sorted: those of the script that stay, those of the profile, and of
/// those that every launcher sets the ones that the script has as well.
std::vector<std::string> variables_of(const model::Plan& plan, const JobIntent& before) {
  std::set<std::string> names;
  for (const auto& name : before.variables)
    if (!util::contains(before.lost_variables, name) || is_rank_variable(name)) names.insert(name);
  for (const auto& variable : plan.env) names.insert(variable.name);
  for (const auto& cache : plan.caches)
    for (const auto& [name, value] : cache.variables) names.insert(name);
  return {names.begin(), names.end()};
}

/// Whether other notes or the table report the option.
bool is_of_size(std::string_view option) {
  static constexpr std::array<std::string_view, 4> k_sizes = {"nodes", "ntasks", "gpus", "cpus"};
  return option == "gres" || std::any_of(k_sizes.begin(), k_sizes.end(),
                                         [&](std::string_view size) { return option.starts_with(size); });
}

/// Where an option of the new script comes from.
std::string reason_of(const std::string& file, const model::PlannedDirective& directive,
                      const std::string& site) {
  if (directive.name == "--job-name")
    return fmt::format("sbatch names a job after its script, which was {}", file);
  return directive.origin.kind == model::OriginKind::site
             ? fmt::format("the profile of {} sets it for such jobs", site)
             : fmt::format("hpcml adds it to each script ({})", directive.origin.by);
}

} // namespace

diag::Diagnostics find_added_options(const std::string& file, const JobIntent& before,
                                     const model::Plan& plan) {
  const bool has_memory = std::any_of(before.options.begin(), before.options.end(),
                                      [](const auto& option) { return option.starts_with("mem"); });
  diag::Diagnostics notes;
  for (const auto& directive : plan.directives) {
    const auto option = directive.name.substr(std::min<std::size_t>(2, directive.name.size()));
    const bool requested = directive.origin.kind == model::OriginKind::flag ||
                           directive.origin.kind == model::OriginKind::environment ||
                           directive.origin.kind == model::OriginKind::config;
    if (requested || before.options.count(option) > 0 || is_of_size(option) ||
        (has_memory && option.starts_with("mem")))
      continue;
    notes.push_back(
        {diag::Severity::note,
         "port/added",
         fmt::format("'{}' is added: {}", directive.word(), reason_of(file, directive, plan.site_id)),
         {file},
         fmt::format("add {} to hpcml gen to set another value", directive.name)});
  }
  return notes;
}

StepMultiplicity runs_of(const model::ImportedLaunch& launch) {
  return launch.once       ? StepMultiplicity::once
         : launch.per_node ? StepMultiplicity::per_node
                           : StepMultiplicity::per_rank;
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
  intent.cpus_per_rank = plan.layout.cpus_per_rank * std::max(1U, plan.layout.threads_per_core);
  intent.variables = variables_of(plan, before);
  return intent;
}

std::string render_intents(const std::string& file, const JobIntent& before, const std::string& site,
                           const JobIntent& after) {
  std::vector<std::vector<std::string>> rows{{" ", "", file, site}};
  const auto add = [&](const std::string& what, const std::string& old, const std::string& now,
                       bool differs) {
    if (old.empty() && now.empty()) return;
    const auto left = wrap(or_none(old)), right = wrap(or_none(now));
    for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i)
      rows.push_back({differs && i == 0 ? "*" : " ", i == 0 ? what : "", i < left.size() ? left[i] : "",
                      i < right.size() ? right[i] : ""});
  };
  const auto add_texts = [&](const std::string& what, const std::string& old, const std::string& now) {
    add(what, old, now, old != now);
  };
  add("ranks", ranks_text(before), ranks_text(after), before.is_known && before.world() != after.world());
  add("GPUs per rank", gpus_text(before), gpus_text(after),
      before.is_known && before.gpus_per_rank() != after.gpus_per_rank());
  if (before.cpus_per_rank > 0 && after.cpus_per_rank > 0)
    add_texts("CPUs per rank", std::to_string(before.cpus_per_rank), std::to_string(after.cpus_per_rank));
  for (std::size_t i = 0; i < std::max(before.steps.size(), after.steps.size()); ++i) {
    const auto old = step_texts(before, i), now = step_texts(after, i);
    add_texts("program", old.first, now.first);
    add_texts("  runs", old.second, now.second);
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
           fmt::format("the old script starts {}, but the new job would start {}", world_text(before),
                       world_text(after)),
           {file},
           "use --nodes, --tasks-per-node and --gpus-per-node to set the numbers"}};
}

} // namespace hpcml::import_script
