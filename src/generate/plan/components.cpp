// SPDX-License-Identifier: MIT
#include "generate/plan/components.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/slurm/options.hpp"
#include "core/util/text.hpp"

namespace hpcml::plan {

namespace {

constexpr const char* k_code = "request/components";

std::string name_of(std::size_t component) { return fmt::format("component {}", component + 1); }

/// What is true of all components is reported once, all else with the component's number.
diag::Diagnostics merge_findings(const std::vector<PlanResult>& results) {
  const auto same = [](const diag::Diagnostic& finding) {
    return [&finding](const diag::Diagnostic& earlier) {
      return earlier.code == finding.code && earlier.message == finding.message;
    };
  };
  const auto is_reported_by = [&](const PlanResult& result, const diag::Diagnostic& finding) {
    return std::any_of(result.diagnostics.begin(), result.diagnostics.end(), same(finding));
  };
  diag::Diagnostics merged;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (auto finding : results[i].diagnostics) {
      const bool all = std::all_of(results.begin(), results.end(),
                                   [&](const auto& result) { return is_reported_by(result, finding); });
      if (all && i > 0) continue;
      if (!all) finding.message = name_of(i) + ": " + finding.message;
      merged.push_back(std::move(finding));
    }
  return merged;
}

std::string module_text(const model::Plan& plan) {
  std::vector<std::string> words;
  if (plan.modules_reset.value != model::ModulesReset::none)
    words.push_back("module " + model::word_of(plan.modules_reset.value));
  for (const auto& module : plan.modules) words.push_back(module.name);
  return words.empty() ? "none" : util::join(words, ", ");
}

std::string image_text(const model::Plan& plan) {
  if (!plan.container) return "no image";
  std::string text = plan.container->image;
  for (const auto& bind : plan.container->binds)
    text += " --bind " + bind.source + (bind.target.empty() ? "" : ":" + bind.target);
  return text;
}

std::map<std::string, std::string> exports_of(const model::Plan& plan) {
  std::map<std::string, std::string> exports;
  for (const auto& variable : plan.env)
    if (variable.scope == model::ValueScope::batch) exports[variable.name] = variable.value;
  return exports;
}

std::vector<std::string> different_exports(const model::Plan& first, const model::Plan& second) {
  const auto exports = exports_of(first), two = exports_of(second);
  std::vector<std::string> names;
  for (const auto& [name, value] : two)
    if (const auto at = exports.find(name); at == exports.end() || at->second != value) names.push_back(name);
  for (const auto& [name, value] : exports)
    if (two.count(name) == 0) names.push_back(name);
  return names;
}

bool shows_the_same(const model::Plan& first, const model::Plan& two) {
  if (!first.container || !two.container) return first.container.has_value() == two.container.has_value();
  const auto& a = first.container->binds;
  const auto& b = two.container->binds;
  return first.container->image == two.container->image &&
         std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& left, const auto& right) {
           return left.source == right.source && left.target == right.target &&
                  left.optional == right.optional;
         });
}

/// What exists once for the script is the first component's.
void compare_software(const model::Plan& first, const model::Plan& second, std::size_t number,
                      PlanStepDiagnostics& diagnostics) {
  if (module_text(first) != module_text(second))
    diagnostics.warning(
        k_code,
        fmt::format("the script loads the modules of component 1 ({}) for all ranks, but {} needs "
                    "others ({})",
                    module_text(first), name_of(number), module_text(second)),
        "add missing modules to all components with --module NAME, or use separate jobs");
  if (const auto names = different_exports(first, second); !names.empty())
    diagnostics.warning(
        k_code,
        fmt::format("the script sets the variables of component 1 for all ranks, but these differ for {}: {}",
                    name_of(number), util::join(names, ", ")),
        "set values that suit all components with --env NAME=VALUE, or use separate jobs");
  if (!shows_the_same(first, second))
    diagnostics.error(
        k_code,
        fmt::format("all components need the same image and binds, but component 1 has {}, and {} has {}",
                    image_text(first), name_of(number), image_text(second)),
        "add --bind for each directory that one of them lacks, or use separate jobs");
}

/// What one script with one step over all components cannot do.
void refuse_alone(const model::Plan& plan, PlanStepDiagnostics& diagnostics) {
  if (!plan.launcher.choice.is_hpcml())
    diagnostics.error(
        k_code,
        fmt::format("{} starts the ranks, but a heterogeneous job needs the launcher hpcml",
                    plan.launcher.choice.name()),
        fmt::format("remove --launcher, or {} at the start of the command", plan.launcher.choice.name()));
  else if (!plan.launcher.by_srun())
    diagnostics.error(k_code,
                      fmt::format("a heterogeneous job needs srun, but {} starts programs with {}",
                                  plan.site_id, plan.launcher.step),
                      "use a separate job for each component");
  if (plan.launcher.has_own_agent())
    diagnostics.error(k_code,
                      fmt::format("{} cannot be used in a heterogeneous job: an agent per node needs the "
                                  "same number of ranks on all nodes",
                                  model::options_for_agent(plan.ranks)),
                      fmt::format("remove {}, or use separate jobs", model::options_for_agent(plan.ranks)));
  if (plan.python.on_each_node())
    diagnostics.error(k_code,
                      "a heterogeneous job cannot create its Python environment on the disk of each node",
                      "use --venv DIRECTORY instead, with an environment on storage that all nodes share");
  if (plan.stage && !plan.stage->sources.empty())
    diagnostics.error(k_code, "--stage cannot be used in a heterogeneous job",
                      "remove --stage, and let the program read the files from storage that all nodes share");
  for (const auto& directive : plan.directives)
    if (directive.name == "--array")
      diagnostics.error(k_code, "--array cannot be used: Slurm has no arrays of heterogeneous jobs",
                        "remove --array");
}

/// What srun would read from the batch step's variables, which are the first component's: each says its own.
void report_counts(model::Plan& plan) {
  static constexpr std::string_view k_counts[] = {
      "--nodes", "--ntasks-per-node", "--gpus",        "--gpus-per-node", "--gpus-per-task",   "--gres",
      "--mem",   "--mem-per-cpu",     "--mem-per-gpu", "--cpus-per-gpu",  "--threads-per-core"};
  std::vector<std::string> words = {"--ntasks=" +
                                    std::to_string(plan.layout.nodes * plan.layout.tasks_per_node)};
  for (const auto& directive : plan.directives)
    if (std::find(std::begin(k_counts), std::end(k_counts), directive.name) != std::end(k_counts))
      words.push_back(directive.word());
  auto& args = plan.launcher.step_args;
  args.insert(args.begin(), words.begin(), words.end()); // what the request says itself comes later and holds
}

} // namespace

PlanStepDiagnostics leave_out_inherited(std::vector<model::Plan>& components) {
  PlanStepDiagnostics diagnostics;
  std::map<std::string, model::PlannedDirective> held; // what the component before hands on
  for (std::size_t i = 0; i < components.size(); ++i) {
    auto& own = components[i].directives;
    std::vector<model::PlannedDirective> written;
    auto handed_on = held;
    for (const auto& directive : own) {
      const auto before = held.find(directive.name);
      const bool new_to_it = before == held.end() || before->second.value != directive.value;
      handed_on.erase(directive.name);
      if (i > 0 && directive.name == "--job-name") continue; // the first names the job
      if (slurm::is_per_component(std::string_view(directive.name).substr(2)))
        written.push_back(directive);
      else if (new_to_it) {
        written.push_back(directive);
        held[directive.name] = directive;
      }
    }
    for (const auto& [name, directive] : handed_on)
      if (name != "--job-name")
        diagnostics.error(k_code,
                          fmt::format("{} is planned without {}, but sbatch copies {} from {}", name_of(i),
                                      name, directive.word(), name_of(i - 1)),
                          fmt::format("set {} in each component of the heterogeneous job, or in none", name));
    own = std::move(written);
  }
  return diagnostics;
}

PlanResult make_plan(const std::vector<model::JobSpec>& components, const model::Site& site,
                     const CommandLineContext& caller) {
  if (components.size() == 1) return make_plan(components.front(), site, caller);
  std::vector<PlanResult> results;
  for (const auto& job : components) results.push_back(make_plan(job, site, caller));
  PlanStepDiagnostics diagnostics;
  diagnostics.findings = merge_findings(results);
  if (diagnostics.refuse() || components.empty()) return {std::nullopt, std::move(diagnostics.findings)};
  std::vector<model::Plan> plans;
  for (auto& result : results) plans.push_back(std::move(*result.plan));
  PlanStepDiagnostics alone;
  for (const auto& plan : plans)
    if (!alone.refuse()) refuse_alone(plan, alone);
  add(diagnostics, std::move(alone));
  for (std::size_t i = 1; i < plans.size(); ++i) compare_software(plans[0], plans[i], i, diagnostics);
  for (auto& plan : plans) report_counts(plan);
  add(diagnostics, leave_out_inherited(plans));
  if (diagnostics.refuse()) return {std::nullopt, std::move(diagnostics.findings)};
  auto plan = std::move(plans.front());
  plan.components.assign(std::make_move_iterator(plans.begin() + 1), std::make_move_iterator(plans.end()));
  return {std::move(plan), std::move(diagnostics.findings)};
}

} // namespace hpcml::plan
