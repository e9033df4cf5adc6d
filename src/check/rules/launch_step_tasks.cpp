// SPDX-License-Identifier: MIT
// A step that starts the job's number of tasks, whatever its own options ask for.
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
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
  return step.program == "srun" && is_own(launch, step) && step.complete &&
         !find_any(step, {"ntasks", "jobid", "het-group", "ntasks-per-gpu"}) &&
         !launch.variable("SLURM_NTASKS");
}

/// Where the script first takes the job's number of tasks away, after which srun counts by the step's
/// options; the end of the text if it never does.
std::size_t place_of_unset(const LintContext& subject) {
  for (const auto& command : subject.listing.commands)
    if (is_program(command, "unset") &&
        (has_word(command.arguments(), "SLURM_NTASKS") || has_word(command.arguments(), "SLURM_NPROCS")))
      return command.place.offset;
  return subject.text.size();
}

/// The number of an option of the step; `absent` without the option.
std::optional<long> number_or(const Link& step, std::string_view name, const LaunchShape& job,
                              std::optional<long> absent) {
  const auto* option = step.find(name);
  if (!option) return absent;
  return option->value ? number_of(*option->value, job) : std::nullopt;
}

/// The severity of what only some versions do.
std::optional<diag::Severity> severity_of(const LintContext& subject, bool old_only) {
  return old_only && !subject.version_known ? std::optional(diag::Severity::note) : std::nullopt;
}

void check_tasks_per_node(const LintContext& subject, const LaunchShape& job, const Link& step,
                          RuleMatches& hits) {
  const auto per_node = number_or(step, "ntasks-per-node", job, std::nullopt);
  const auto nodes = number_or(step, "nodes", job, job.nodes);
  if (!per_node || !nodes || *per_node * *nodes == *job.tasks) return;
  // With its own --nodes the step gets its number of tasks per node from 23.02.5 on.
  const bool old_only = step.find("nodes") != nullptr;
  if (old_only && !subject.may_be("20.11-23.02")) return;
  const auto place = step.find("ntasks-per-node")->place;
  const auto option = fmt::format("--ntasks={}", *per_node * *nodes);
  add_match(hits, {place,
                   fmt::format("srun{} ignores --ntasks-per-node={} and starts the job's {} tasks "
                               "(SLURM_NTASKS)",
                               old_only ? " of Slurm up to 23.02" : "", *per_node, *job.tasks),
                   fmt::format("add {} to this step", option),
                   {{place.offset, 0, option + " "}},
                   severity_of(subject, old_only)});
}

/// Reports a step that asks for some of the job's nodes only: it has all tasks on them.
void check_nodes(const LintContext& subject, const LaunchShape& job, const Link& step, RuleMatches& hits) {
  const auto* option = step.find("nodes");
  const auto nodes = option ? number_or(step, "nodes", job, std::nullopt) : std::nullopt;
  if (!nodes || *nodes < 1 || !job.nodes || *nodes >= *job.nodes || *nodes >= *job.tasks) return;
  // From 23.02.5 on srun counts by the job's --ntasks-per-node, which it reads too.
  const auto per_node = subject.requests[0].count("ntasks-per-node");
  const bool old_only = per_node > 0;
  if (old_only && !subject.may_be("20.11-23.02")) return;
  const auto meant = per_node > 0 ? per_node * *nodes : *nodes;
  add_match(hits, {option->place,
                   fmt::format("srun{} asks for all {} tasks of the job (SLURM_NTASKS) on {}",
                               old_only ? " of Slurm up to 23.02" : "", *job.tasks,
                               util::counted(static_cast<unsigned long long>(*nodes), "node")),
                   fmt::format("add --ntasks={} to this step", meant),
                   {{option->place.offset, 0, fmt::format("--ntasks={} ", meant)}},
                   severity_of(subject, old_only)});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto job = shape_of_job(subject);
  if (!job.tasks || *job.tasks < 2 || !sets_task_count(subject)) return hits;
  const auto unset = place_of_unset(subject);
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->place.offset > unset || !reads_task_count(launch, *step)) continue;
    if (step->find("ntasks-per-node"))
      check_tasks_per_node(subject, job, *step, hits);
    else
      check_nodes(subject, job, *step, hits);
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
             "prints \"can't honor --ntasks-per-node\" and continues. A step with fewer --nodes and no "
             "--ntasks starts all of them on these nodes: several servers instead of one.",
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
