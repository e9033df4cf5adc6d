// SPDX-License-Identifier: MIT
// More threads per process than it has CPUs.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_threads_over_cpus {

/// Processes that an agent starts in its task, of which each has the threads; 1 without an agent; nothing
/// where that is not visible.
std::optional<long> processes_of(const Launch& launch, const LaunchShape& shape) {
  const auto* agent = launch.agent();
  if (!agent) return 1;
  const auto* option = agent->find(model::OptionMeaning::ranks_per_node);
  return agent->complete && option && option->value ? number_of(*option->value, shape) : std::nullopt;
}

/// CPUs of a task of the step; 0 where they are not known.
long cpus_of(const slurm::JobOptions& request, const Link& step, const LaunchShape& shape) {
  const auto* option = step.find("cpus-per-task");
  if (!option) return request.count("cpus-per-task");
  return option->value && option->value->known() ? number_of(*option->value, shape).value_or(0) : 0;
}

/// Whether the step's tasks are bound to their own CPUs.
bool is_bound(const Link& step) {
  return step.program == "srun" && step.complete &&
         !find_any(step, {"cpu-bind", "overcommit", "cpus-per-gpu"});
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || !is_bound(*step) || (!launch.python() && !launch.agent())) continue;
    const auto* threads = launch.variable("OMP_NUM_THREADS");
    const auto shape = shape_of(subject, launch);
    const auto cpus = cpus_of(subject.requests[0], *step, shape);
    if (!threads || !threads->known() || cpus < 1) continue;
    const auto count = number_of(*threads, shape);
    const auto processes = processes_of(launch, shape);
    if (!count || !processes || *count * *processes <= cpus) continue;
    const bool alone = !launch.agent();
    add_match(hits, {threads->place,
                     fmt::format("{} threads{} exceed {}{} per task and wait for each other", *count,
                                 alone ? "" : fmt::format(" in each of {} processes", *processes), cpus,
                                 cpus == 1 ? " CPU" : " CPUs"),
                     alone ? "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK"
                           : fmt::format("export OMP_NUM_THREADS={}", std::max(1L, cpus / *processes)),
                     alone && !step->find("cpus-per-task")
                         ? replace_end(subject, threads->place, threads->text(), "$SLURM_CPUS_PER_TASK")
                         : std::vector<Edit>()});
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
