// SPDX-License-Identifier: MIT
// A step's --ntasks-per-node that srun ignores.
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_step_tasks {

/// Whether sbatch sets SLURM_NTASKS for the job, which srun reads as if it were its own --ntasks.
bool sets_task_count(const LintContext& subject) {
  const auto& request = subject.requests[0];
  return request.has("ntasks") || request.has("ntasks-per-node");
}

/// Whether the step takes its number of tasks from SLURM_NTASKS.
bool reads_task_count(const Launch& launch, const Link& step) {
  return step.program == "srun" && step.find("ntasks-per-node") && is_own(launch, step) && step.complete &&
         !find_any(step, {"ntasks", "jobid", "het-group", "ntasks-per-gpu"}) &&
         !launch.variable("SLURM_NTASKS");
}

/// Whether srun takes the step's tasks per node anyway: in a new version, or as the script unsets the count.
bool has_effect(const LintContext& subject, const Link& step, bool old_only) {
  return (old_only && !subject.may_be("20.11-23.02")) ||
         is_unset_before(subject, "SLURM_NTASKS", step.place.offset) ||
         is_unset_before(subject, "SLURM_NPROCS", step.place.offset);
}

/// The number of an option of the step; `absent` without the option.
std::optional<long> number_or(const Link& step, std::string_view name, const LaunchShape& job,
                              std::optional<long> absent) {
  const auto* option = step.find(name);
  if (!option) return absent;
  return option->value ? number_of(*option->value, job) : std::nullopt;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto job = shape_of_job(subject);
  if (!job.tasks || *job.tasks < 2 || !sets_task_count(subject)) return hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || !reads_task_count(launch, *step)) continue;
    const auto per_node = number_or(*step, "ntasks-per-node", job, std::nullopt);
    const auto nodes = number_or(*step, "nodes", job, job.nodes);
    if (!per_node || !nodes || *per_node * *nodes == *job.tasks) continue;
    // With its own --nodes the step gets its number of tasks per node from 23.02.5 on.
    const bool old_only = step->find("nodes") != nullptr;
    if (has_effect(subject, *step, old_only)) continue;
    const auto place = step->find("ntasks-per-node")->place;
    const auto option = fmt::format("--ntasks={}", *per_node * *nodes);
    add_match(hits,
              {place,
               fmt::format("srun{} ignores --ntasks-per-node={} and starts the job's {} tasks "
                           "(SLURM_NTASKS)",
                           old_only ? " of Slurm up to 23.02" : "", *per_node, *job.tasks),
               fmt::format("add {} to this step", option),
               {{place.offset, 0, option + " "}},
               old_only && !subject.version_known ? std::optional(diag::Severity::note) : std::nullopt});
  }
  return hits;
}

} // namespace launch_step_tasks

Rule rule_launch_step_tasks() {
  using namespace launch_step_tasks;
  return {
      .id = "launch/step-tasks",
      .severity = diag::Severity::warning,
      .title = "Tasks per node of a step without effect",
      .why = "sbatch sets SLURM_NTASKS if the directives request tasks, and srun reads it as its own "
             "--ntasks. A step with another --ntasks-per-node alone then starts all tasks of the job: srun "
             "prints \"can't honor --ntasks-per-node\" and continues.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_ntasks-per-node",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun --ntasks-per-node=1 tar xf data.tar -C /tmp
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
srun --ntasks=2 --ntasks-per-node=1 tar xf data.tar -C /tmp
)"},
      .find = find,
  };
}

} // namespace hpcml::check
