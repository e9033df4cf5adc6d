// SPDX-License-Identifier: MIT
// Steps in the background that wait for each other.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_sequential_steps {

/// Whether the step may leave room for others: it says what it takes, or where it runs.
bool leaves_room(const LintContext& subject, const Launch& launch, const Link& step) {
  if (!step.complete ||
      find_any(step, {"overlap", "exact", "exclusive", "mem", "mem-per-cpu", "mem-per-gpu", "cpus-per-task",
                      "nodelist", "relative", "exclude", "het-group", "jobid", "gpus", "gpus-per-task",
                      "gpus-per-node", "gres", "cpus-per-gpu", "nodefile"}))
    return true;
  if (launch.variable("SLURM_OVERLAP") || launch.variable("SLURM_EXACT") ||
      launch.variable("SRUN_CPUS_PER_TASK") || launch.variable("SLURM_MEM_PER_NODE") ||
      launch.variable("SLURM_MEM_PER_CPU"))
    return true;
  const auto job = shape_of_job(subject);
  const auto shape = shape_of(subject, launch);
  return !job.nodes || !shape.nodes || *shape.nodes < *job.nodes;
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  const Link* first = nullptr;
  const Link* second = nullptr;
  for (const auto& launch : subject.launches) {
    if (!launch.command->context.background) continue;
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step) || leaves_room(subject, launch, *step))
      continue;
    if (!first)
      first = step;
    else if (!second && step->place.offset != first->place.offset)
      second = step;
    if (!second && launch.command->context.loop) second = step;
  }
  if (!second) return {};
  return {{second->place,
           "this step waits for the one before: srun without --exact or --mem uses all resources of the job",
           "add to each step its resources: srun --exact --ntasks=… --cpus-per-task=… --mem=… (GPUs: "
           "--gpus-per-node=…), or use --overlap to share them"}};
}

} // namespace launch_sequential_steps

Rule rule_launch_sequential_steps() {
  using namespace launch_sequential_steps;
  return {
      .id = "launch/sequential-steps",
      .severity = diag::Severity::warning,
      .title = "Background steps that run one after the other",
      .why =
          "A step takes all CPUs and all memory of the job on its nodes unless it asks for a part. The next "
          "one waits: \"step creation temporarily disabled, retrying\", and "
          "what was to run side by side runs in turn.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_exact",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 -n4
srun -n1 python a.py &
srun -n1 python b.py &
wait
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 -n4
srun -n1 --exact --mem=4G python a.py &
srun -n1 --exact --mem=4G python b.py &
wait
)"},
      .find = find,
  };
}

} // namespace hpcml::check
