// SPDX-License-Identifier: MIT
// More threads per process than it has CPUs.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_threads_over_cpus {

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  const auto& request = subject.requests[0];
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !step->complete || !launch.python() || launch.agent() ||
        find_any(*step, {"cpu-bind", "overcommit", "cpus-per-gpu"}))
      continue;
    const auto* threads = launch.variable("OMP_NUM_THREADS");
    const auto shape = shape_of(subject, launch);
    const auto* option = step->find("cpus-per-task");
    const bool known = !option || (option->value && option->value->known());
    const auto cpus = !known   ? 0
                      : option ? number_of(*option->value, shape).value_or(0)
                               : request.count("cpus-per-task");
    if (!threads || !threads->known() || cpus < 1) continue;
    const auto count = number_of(*threads, shape);
    if (!count || *count <= cpus) continue;
    add_match(hits, {threads->place,
                     fmt::format("{} threads exceed {}{} per task and wait for each other", *count, cpus,
                                 cpus == 1 ? " CPU" : " CPUs"),
                     "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK",
                     option ? std::vector<Edit>()
                            : replace_end(subject, threads->place, threads->text(), "$SLURM_CPUS_PER_TASK")});
  }
  return hits;
}

} // namespace launch_threads_over_cpus

Rule rule_launch_threads_over_cpus() {
  using namespace launch_threads_over_cpus;
  return {
      .id = "launch/threads-over-cpus",
      .severity = diag::Severity::warning,
      .title = "More threads than CPUs",
      .why =
          "Slurm binds a task to its --cpus-per-task. More OpenMP threads than that take turns on the same "
          "cores, and every parallel loop waits for the last one.",
      .link = "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#utilize-openmp",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=4
export OMP_NUM_THREADS=16
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export OMP_NUM_THREADS=8
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
