// SPDX-License-Identifier: MIT
// Steps whose tasks get fewer CPUs than the job has for them.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_idle_cpus {

/// True if the step may be the job's main work: a training in the foreground, that no loop repeats.
bool is_main_step(const Launch& launch) {
  const auto* step = launch.step();
  const auto& context = launch.command->context;
  return step && step->program == "srun" && step->complete && !is_utility(launch) && !context.background &&
         !context.loop && !context.substitution && !context.pipeline && !context.condition &&
         (launch.python() || launch.agent());
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  const auto cpus = subject.requests[0].count("cpus-per-task");
  if (cpus < 2) return {};
  const Launch* main = nullptr;
  for (const auto& launch : subject.launches) {
    if (!is_main_step(launch)) continue;
    if (main) return {}; // each step may need another number
    main = &launch;
  }
  const auto* option = main ? main->step()->find("cpus-per-task") : nullptr;
  if (!option || !option->value) return {};
  const auto job = shape_of_job(subject);
  const auto shape = shape_of(subject, *main);
  const auto own = number_of(*option->value, job);
  if (!own || *own >= cpus || *own < 1 || !shape.tasks || shape.tasks != job.tasks) return {};
  return {{option->place,
           fmt::format("each task gets {} of the {} that the job has for it: the others stay idle", *own,
                       util::counted(static_cast<unsigned long long>(cpus), "CPU")),
           fmt::format("use --cpus-per-task={}, or request fewer CPUs", cpus)}};
}

} // namespace launch_idle_cpus

Rule rule_launch_idle_cpus() {
  using namespace launch_idle_cpus;
  return {
      .id = "launch/idle-cpus",
      .severity = diag::Severity::warning,
      .title = "Step with fewer CPUs per task than the job",
      .why = "--cpus-per-task of srun wins over the job's and over SRUN_CPUS_PER_TASK, and from Slurm 21.08 "
             "on a step gets exactly the CPUs that it asks for. The data loaders of each rank share the "
             "smaller number, and the rest of the node is paid for and unused.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_cpus-per-task",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=12
srun --cpus-per-task=4 python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=12
srun --cpus-per-task=12 python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
