// SPDX-License-Identifier: MIT
// A binding of tasks to GPUs in a job whose ranks srun does not start.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/node_reach.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace launch_gpu_bind_unused {

/// The first launch that does the job's work, if no work is a step of srun.
const Launch* work_without_srun(const LintContext& subject) {
  const Launch* work = nullptr;
  for (const auto& launch : subject.launches) {
    const bool by_srun = launch.find("srun") != nullptr;
    if (by_srun && !is_utility(launch)) return nullptr;
    if (!work && !by_srun && does_work(launch)) work = &launch;
  }
  return work;
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  for (const std::string_view option : {"gpu-bind", "tres-bind"}) {
    const auto place = subject.requests[0].place(option);
    if (place.length == 0 || subject.requests[0].text(option) == "none") continue;
    const auto* work = shows_all_programs(subject) ? work_without_srun(subject) : nullptr;
    if (!work) return {};
    const auto* agent = work->agent();
    return {{place,
             fmt::format("--{} applies to tasks of srun, but {} starts the processes here", option,
                         work->step() ? work->step()->program
                         : agent      ? agent->program
                                      : "the batch shell"),
             "start them with srun, or let each process choose the GPU of its local rank",
             {},
             work->step() ? std::nullopt : std::optional(diag::Severity::note)}};
  }
  return {};
}

} // namespace launch_gpu_bind_unused

Rule rule_launch_gpu_bind_unused() {
  using namespace launch_gpu_bind_unused;
  return {
      .id = "launch/gpu-bind-unused",
      .severity = diag::Severity::warning,
      .title = "GPU binding without srun",
      .why =
          "Slurm binds the tasks that srun starts. The ranks of mpirun and the programs of the batch shell "
          "do not get the GPUs that --gpu-bind states, and may all use the first one.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpu-bind",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --gpus-per-node=8 --gpu-bind=per_task:1 --time=10
mpirun -n 8 python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks=8 --gpus-per-node=8 --gpu-bind=per_task:1 --time=10
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
