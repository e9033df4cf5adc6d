// SPDX-License-Identifier: MIT
// torchrun's default of one thread per process where there are more CPUs.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "core/model/launcher.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_threads_unset {

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || subject.text.find("OMP_NUM_THREADS") != std::string_view::npos)
    return {};
  const auto cpus = subject.requests[0].count("cpus-per-task");
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* launcher = agent ? model::find_launcher(agent->program) : nullptr;
    if (!launcher || !launcher->one_thread || launch.container()) continue;
    const auto shape = shape_of(subject, launch);
    const auto* option = agent->find(model::OptionMeaning::ranks_per_node);
    const auto processes = option && option->value ? number_of(*option->value, shape) : std::nullopt;
    if (!processes || *processes < 2 || cpus < 4 * *processes) continue;
    add_match(hits, {agent->place,
                     fmt::format("{} gives each of its {} processes one thread, but each has {} CPUs",
                                 agent->program, *processes, cpus / *processes),
                     "export OMP_NUM_THREADS=$((SLURM_CPUS_PER_TASK / " + std::to_string(*processes) +
                         ")), less what data loaders need"});
  }
  return hits;
}

} // namespace launch_threads_unset

Rule rule_launch_threads_unset() {
  using namespace launch_threads_unset;
  return {
      .id = "launch/threads-unset",
      .severity = diag::Severity::note,
      .title = "One thread per process by default",
      .why = "torchrun sets OMP_NUM_THREADS=1 where it is not set, so that processes do not crowd a small "
             "machine. On nodes with many cores per GPU, work on the CPU "
             "(augmentation, optimizers with offload) then runs on one core.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 --ntasks-per-node=1 --cpus-per-task=32 --gpus-per-node=4
srun torchrun --standalone --nproc_per_node=4 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 -c 64 --gres=gpu:4
export OMP_NUM_THREADS=8
torchrun --standalone --nproc-per-node=4 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
