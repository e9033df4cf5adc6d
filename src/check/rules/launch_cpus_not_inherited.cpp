// SPDX-License-Identifier: MIT
// --cpus-per-task of the job that srun does not take over.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_cpus_not_inherited {

/// Whether the step says itself how its tasks get CPUs.
bool says_cpus(const Link& step) {
  if (!step.complete || find_any(step, {"cpus-per-task", "cpus-per-gpu", "exact", "exclusive", "overlap",
                                        "whole", "pty", "jobid", "het-group"}))
    return true;
  const auto* bind = step.find("cpu-bind");
  if (!bind || !bind->value) return false;
  const auto value = bind->value->text();
  return !bind->value->known() || value.find("none") != std::string::npos || value.find("no") == 0 ||
         value.find("mask") != std::string::npos || value.find("map") != std::string::npos;
}

Hits find(const Subject& subject) {
  const auto* directive = subject.directive("cpus-per-task");
  if (!directive || subject.requests.size() != 1 || subject.requests[0].count("cpus-per-task") < 2 ||
      !subject.may_be("22.05-23.02"))
    return {};
  Hits hits;
  for (const auto& launch : subject.launches) {
    const auto* step = launch.step();
    if (!step || step->program != "srun" || !is_own(launch, *step) || says_cpus(*step) ||
        launch.command->context.substitution)
      continue;
    if (launch.variable("SRUN_CPUS_PER_TASK") || launch.variable("SLURM_CPU_BIND")) continue;
    bool trains = false;
    for (const auto& inner : subject.launches)
      if (const auto* same = inner.step(); same && same->place.offset == step->place.offset &&
                                           (inner.python() || inner.agent() || inner.container() ||
                                            util::ends_with(inner.last().program, ".sh")))
        trains = true;
    // Where the version is not known once is enough to say.
    if (!trains || (!subject.version_known && !hits.empty())) continue;
    add_hit(hits,
            {place_of(step->place),
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
      "launch/cpus-not-inherited",
      diag::Severity::warning,
      "--cpus-per-task does not reach srun",
      "From 22.05 to 23.02 srun ignores the job's --cpus-per-task; before and after it takes it. All threads "
      "and data loaders of a task then share one "
      "core, and training crawls without any message.",
      "https://github.com/SchedMD/slurm/blob/master/CHANGELOG/slurm-22.05.md",
      {{"#!/bin/bash\n#SBATCH --ntasks-per-node=4 --nodes=1 --cpus-per-task=8\nsrun python train.py\n", "",
        "22.05"},
       {"#!/bin/bash\n#SBATCH -N2 -c 12\nsrun --ntasks-per-node=1 torchrun --nproc_per_node=4 train.py\n", "",
        "23.02"},
       {"#!/bin/bash\n#SBATCH --ntasks=8 --cpus-per-task=7\nsrun -l singularity exec x.sif python train.py\n",
        "", "22.05"}},
      {{"#!/bin/bash\n#SBATCH --ntasks-per-node=4 --nodes=1 --cpus-per-task=8\nsrun python train.py\n", "",
        "23.11"},
       {"#!/bin/bash\n#SBATCH --ntasks=4 --cpus-per-task=8\nsrun -c $SLURM_CPUS_PER_TASK python train.py\n",
        "", "22.05"},
       {"#!/bin/bash\n#SBATCH --ntasks=4 --cpus-per-task=8\nexport "
        "SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\nsrun python train.py\n",
        "", "22.05"},
       {"#!/bin/bash\n#SBATCH --nodes=2 --cpus-per-task=8\nsrun hostname\nsrun --cpu-bind=none python "
        "train.py\n",
        "", "22.05"}},
      find};
}

} // namespace hpcml::check
