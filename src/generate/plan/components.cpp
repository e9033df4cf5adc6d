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
  const auto is_said_by = [&](const PlanResult& result, const diag::Diagnostic& finding) {
    return std::any_of(result.diagnostics.begin(), result.diagnostics.end(), same(finding));
  };
  diag::Diagnostics merged;
  for (std::size_t i = 0; i < results.size(); ++i)
    for (auto finding : results[i].diagnostics) {
      const bool all = std::all_of(results.begin(), results.end(),
                                   [&](const auto& result) { return is_said_by(result, finding); });
      if (all && i > 0) continue;
      if (!all) finding.message = name_of(i) + ": " + finding.message;
      merged.push_back(std::move(finding));
    }
  return merged;
}

std::string module_text(const model::Plan& plan) {
  std::string text = model::word_of(plan.modules_reset.value);
  for (const auto& module : plan.modules) text += " " + module.name;
  return text;
}

std::map<std::string, std::string> exports_of(const model::Plan& plan) {
  std::map<std::string, std::string> exports;
  for (const auto& variable : plan.env)
    if (variable.scope == model::Scope::batch) exports[variable.name] = variable.value;
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
                      StepDiagnostics& diagnostics) {
  if (module_text(first) != module_text(second))
    diagnostics.warning(k_code,
                        fmt::format("{} would load other modules than the first component, whose modules the "
                                    "script loads: {}; not: {}",
                                    name_of(number), module_text(first), module_text(second)),
                        "use a program that runs with the modules of the first component");
  if (const auto names = different_exports(first, second); !names.empty())
    diagnostics.warning(
        k_code,
        fmt::format(
            "{} would set other variables than the first component, whose variables the script sets: {}",
            name_of(number), util::join(names, ", ")));
  if (!shows_the_same(first, second))
    diagnostics.error(
        k_code,
        fmt::format("{} would have another image or other binds than the first component", name_of(number)),
        "use the same --bind for all components");
}

/// What one script with one step over all components cannot do.
void refuse_alone(const model::Plan& plan, StepDiagnostics& diagnostics) {
  if (!plan.launcher.choice.is_hpcml() || !plan.launcher.by_srun())
    diagnostics.error(
        k_code,
        fmt::format(
            "several components need hpcml launch started by srun as launcher; here {} starts the ranks{}",
            plan.launcher.choice.name(),
            plan.launcher.by_srun() ? "" : fmt::format(", because of {}", plan.launcher.step)),
        "remove --launcher, or use one component");
  if (plan.launcher.has_own_agent())
    diagnostics.error(
        k_code,
        fmt::format(
            "an agent per node needs the same number of ranks on all nodes, so components cannot use {}",
            model::options_for_agent(plan.ranks)),
        fmt::format("remove {}, or use one component", model::options_for_agent(plan.ranks)));
  if (plan.python.on_each_node() || plan.stage)
    diagnostics.error(k_code,
                      "files that are copied to or created on each node's disk need a job of one component",
                      "use a file system that all nodes share");
  for (const auto& directive : plan.directives)
    if (directive.name == "--array")
      diagnostics.error(k_code, "Slurm has no arrays of jobs with several components", "remove --array");
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

StepDiagnostics leave_out_inherited(std::vector<model::Plan>& components) {
  StepDiagnostics diagnostics;
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
                          "set it in each component, or in none");
    own = std::move(written);
  }
  return diagnostics;
}

PlanResult make_plan(const std::vector<model::JobSpec>& components, const model::Site& site,
                     const Caller& caller) {
  if (components.size() == 1) return make_plan(components.front(), site, caller);
  std::vector<PlanResult> results;
  for (const auto& job : components) results.push_back(make_plan(job, site, caller));
  StepDiagnostics diagnostics;
  diagnostics.findings = merge_findings(results);
  if (diagnostics.refuse() || components.empty()) return {std::nullopt, std::move(diagnostics.findings)};
  std::vector<model::Plan> plans;
  for (auto& result : results) plans.push_back(std::move(*result.plan));
  StepDiagnostics alone;
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
