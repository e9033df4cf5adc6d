// SPDX-License-Identifier: MIT
// --cpus-per-task of the job that srun does not take over.
#include <algorithm>
#include <array>
#include <set>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_cpus_not_inherited {

/// Whether words that are not known may hold options about CPUs: those of a variable that the script does not
/// set itself, and of one whose values speak of CPUs.
bool may_set_cpus(const LintContext& subject, const Launch& launch, const Link& step) {
  static constexpr std::array<std::string_view, 8> k_signs = {
      "cpus-per-task=$", "cpus-per-task $", " -c", "\"-c", "cpu-bind", "cpu_bind", "--exact", "--overlap"};
  const auto commands = subject.text.substr(std::min(subject.header.end, subject.text.size()));
  const auto in_commands = [&](std::string_view sign) {
    return commands.find(sign) != std::string_view::npos;
  };
  const auto next = std::find_if(launch.chain.begin(), launch.chain.end(),
                                 [&](const Link& link) { return link.place.offset > step.place.offset; });
  bool any = false;
  for (const auto& word : launch.command->words) {
    if (word.place.offset <= step.place.offset) continue;
    if (next != launch.chain.end() && word.place.offset >= next->place.offset) break;
    for (const auto& piece : word.pieces) {
      if (piece.known) continue;
      std::string name;
      for (const char c : piece.text)
        if (util::is_name_char(c))
          name += c;
        else if (!name.empty())
          break;
      if (name.empty() || !(in_commands(name + "=") || in_commands(name + "+="))) return true;
      any = true;
    }
  }
  return !any || std::any_of(k_signs.begin(), k_signs.end(), in_commands);
}

/// True if the binding leaves the tasks CPUs that are not their own, or names the CPUs.
bool is_binding_to_others(const shell::Argument& binding) {
  const auto value = binding.text();
  return !binding.known() || value.find("none") != std::string::npos || value.starts_with("no") ||
         value.find("mask") != std::string::npos || value.find("map") != std::string::npos;
}

/// True if the program is small work next to those of a training: "ray stop", "ray status".
bool is_query(const Launch& launch) {
  const auto& last = launch.last();
  return last.program == "ray" && !last.operands.empty() &&
         (last.operands[0].text() == "stop" || last.operands[0].text() == "status");
}

/// Whether the step says itself how its tasks get CPUs.
bool sets_cpus(const LintContext& subject, const Launch& launch, const Link& step) {
  if (find_any(step, {"cpus-per-task", "cpus-per-gpu", "exact", "exclusive", "overlap", "whole", "pty",
                      "het-group"}))
    return true;
  if (const auto* job_id = step.find("jobid"); job_id && !is_own_job(*job_id)) return true;
  if (!step.complete && may_set_cpus(subject, launch, step)) return true;
  const auto* bind = step.find("cpu-bind");
  return bind && bind->value && is_binding_to_others(*bind->value);
}

/// Whether variables set by the script give the tasks CPUs, or bind them to CPUs that are not their own.
bool sets_cpus_by_variable(const Launch& launch) {
  const auto* binding = launch.variable("SLURM_CPU_BIND");
  return launch.variable("SRUN_CPUS_PER_TASK") || (binding && is_binding_to_others(*binding));
}

/// True if the step starts a shell that runs a file: `srun bash train_node.sh`, whose commands are not
/// visible.
bool runs_script(const Launch& launch) {
  const auto& last = launch.last();
  return (last.program == "bash" || last.program == "sh") && !last.operands.empty() &&
         last.operands[0].known() && last.operands[0].text().ends_with(".sh");
}

/// The places of the steps that start programs of a training: whatever is not small work.
std::set<std::size_t> training_steps(const LintContext& subject) {
  std::set<std::size_t> places;
  for (const auto& inner : subject.launches) {
    const auto* step = inner.step();
    const bool trains = inner.python() || inner.agent() || inner.container() || runs_script(inner);
    if (step &&
        (trains || !(is_utility(inner) || is_query(inner) || is_shell(inner) || &inner.last() == step)))
      places.insert(step->place.offset);
  }
  return places;
}

RuleMatches find(const LintContext& subject) {
  const auto* directive = subject.directive("cpus-per-task");
  if (!directive || subject.requests.size() != 1 || subject.requests[0].count("cpus-per-task") < 2 ||
      !subject.may_be("22.05-23.02"))
    return {};
  const auto training = training_steps(subject);
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step) || launch.command->context.substitution ||
        training.count(step->place.offset) == 0 || sets_cpus(subject, launch, *step))
      continue;
    if (sets_cpus_by_variable(launch)) continue;
    // Where the version is not known once is enough to say.
    if (!subject.version_known && !hits.empty()) continue;
    add_match(hits,
              {step->place,
               "srun of Slurm 22.05 to 23.02 does not take the job's --cpus-per-task: each task gets one CPU",
               "srun --cpus-per-task=$SLURM_CPUS_PER_TASK, which all versions understand; or export "
               "SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK before the first srun",
               add_option(subject, *step, "--cpus-per-task=$SLURM_CPUS_PER_TASK"),
               subject.version_known ? std::nullopt : std::optional(diag::Severity::note)});
  }
  return hits;
}

} // namespace launch_cpus_not_inherited

Rule rule_launch_cpus_not_inherited() {
  using namespace launch_cpus_not_inherited;
  return {
      .id = "launch/cpus-not-inherited",
      .severity = diag::Severity::warning,
      .title = "--cpus-per-task does not reach srun",
      .why = "From 22.05 to 23.02 srun ignores the job's --cpus-per-task; before and after it takes it. All "
             "threads "
             "and data loaders of a task then share one "
             "core, and training crawls without any message.",
      .link = "https://github.com/SchedMD/slurm/blob/master/CHANGELOG/slurm-22.05.md",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks-per-node=4 --nodes=1 --cpus-per-task=8
srun python train.py
)",
              "", "22.05"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks-per-node=4 --nodes=1 --cpus-per-task=8
srun python train.py
)",
               "", "23.11"},
      .find = find,
  };
}

} // namespace hpcml::check
