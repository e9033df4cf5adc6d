// SPDX-License-Identifier: MIT
// More threads per process than it has CPUs.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/task_cpus.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_threads_over_cpus {

/// Threads of each process: OMP_NUM_THREADS, or one if it is not set; nothing if the value is not known.
std::optional<long> threads_of(const LintContext& subject, const shell::Argument* threads,
                               const LaunchShape& shape) {
  if (!threads) return 1;
  return is_cpus_per_task(*threads) ? std::optional(subject.requests[0].count("cpus-per-task"))
                                    : number_of(*threads, shape);
}

/// The finding for processes of an agent that are more than the CPUs.
RuleMatch more_processes(const GivenOption& option, long processes, long cpus) {
  return {option.place,
          fmt::format("{} processes share {} of the task", processes,
                      util::counted(static_cast<unsigned long long>(cpus), "CPU")),
          "request at least one CPU per process, and more for data loaders: --cpus-per-task"};
}

/// The finding for threads that are more than the CPUs.
RuleMatch more_threads(const LintContext& subject, const Launch& launch, const shell::Argument& threads,
                       long count, long processes, long cpus) {
  const bool alone = !launch.agent();
  const auto* step = launch.step();
  // Where the step has another number, the script's $SLURM_CPUS_PER_TASK is not the one of its tasks.
  const bool has_job_cpus = cpus == subject.requests[0].count("cpus-per-task");
  return {threads.place,
          fmt::format("{} threads{} exceed {} per task and wait for each other", count,
                      alone ? "" : fmt::format(" in each of {} processes", processes),
                      util::counted(static_cast<unsigned long long>(cpus), "CPU")),
          alone && has_job_cpus ? "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK"
                                : fmt::format("export OMP_NUM_THREADS={}", std::max(1L, cpus / processes)),
          alone && step && !step->find("cpus-per-task")
              ? replace_end(subject, threads.place, threads.text(), "$SLURM_CPUS_PER_TASK")
              : std::vector<Edit>()};
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    if (!launch.python() && !agent) continue;
    const auto shape = shape_of(subject, launch);
    const auto cpus = cpus_of_task(subject, launch, shape);
    if (cpus < 1) continue;
    const auto* threads = launch.variable("OMP_NUM_THREADS");
    const auto count = threads_of(subject, threads, shape);
    const auto processes = processes_of_task(launch, shape);
    if (!count || !processes || *count * *processes <= cpus) continue;
    if (!threads && !agent->find(model::OptionMeaning::ranks_per_node)) continue; // no option to report
    auto hit = threads ? more_threads(subject, launch, *threads, *count, *processes, cpus)
                       : more_processes(*agent->find(model::OptionMeaning::ranks_per_node), *processes, cpus);
    if (!launch.step()) hit.severity = diag::Severity::note; // unless the site confines jobs to their CPUs
    add_match(hits, std::move(hit));
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
          "cores, and every parallel loop waits for the last one. A launcher's processes share the CPUs of "
          "its task: OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK is right for one process, not for each of them.",
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
