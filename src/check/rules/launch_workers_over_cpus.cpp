// SPDX-License-Identifier: MIT
// More processes that load data than a task has CPUs.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/task_cpus.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_workers_over_cpus {

/// True if the workers load data for a training: others may wait for files or the network.
bool loads_data(const LintContext& subject, const Launch& launch) {
  if (launch.agent() || shape_of_job(subject).gpus_per_node) return true;
  return util::to_lower(subject.text).find("torch") != std::string::npos ||
         util::to_lower(launch.last().operands.empty() ? "" : launch.last().operands[0].text())
                 .find("train") != std::string::npos;
}

RuleMatches find(const LintContext& subject) {
  static constexpr std::array<std::string_view, 5> k_names = {
      "num_workers", "workers", "dataloader_num_workers", "n_workers", "num_dataloader_workers"};
  RuleMatches hits;
  if (subject.requests.size() != 1 || subject.text.find("workers") == std::string_view::npos) return hits;
  for (const auto& launch : subject.launches) {
    if (!launch.python() && !launch.agent()) continue;
    const auto workers = find_count_argument(launch.last(), k_names);
    if (!workers || !loads_data(subject, launch)) continue;
    const auto shape = shape_of(subject, launch);
    const auto cpus = cpus_of_task(subject, launch, shape);
    const auto processes = processes_of_task(launch, shape);
    if (cpus < 1 || !processes || workers->number * *processes <= cpus) continue;
    add_match(hits, {workers->place,
                     fmt::format("{} workers{} share {} of the task", workers->number,
                                 *processes > 1 ? fmt::format(" of each of {} processes", *processes) : "",
                                 util::counted(static_cast<unsigned long long>(cpus), "CPU")),
                     "use at most one worker per CPU, or request more --cpus-per-task"});
  }
  return hits;
}

} // namespace launch_workers_over_cpus

Rule rule_launch_workers_over_cpus() {
  using namespace launch_workers_over_cpus;
  return {
      .id = "launch/workers-over-cpus",
      .severity = diag::Severity::note,
      .title = "More data loader workers than CPUs",
      .why = "Each worker of a DataLoader is a separate process. Slurm binds them to the CPUs of their "
             "task, where they take turns: loading gets slower, and PyTorch warns that it can freeze.",
      .link = "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=2
srun python train.py --num_workers 8
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=8
srun python train.py --num_workers 8
)"},
      .find = find,
  };
}

} // namespace hpcml::check
