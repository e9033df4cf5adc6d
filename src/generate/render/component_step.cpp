// SPDX-License-Identifier: MIT
// The step over all components of a heterogeneous job.
#include "generate/render/sections.hpp"

namespace hpcml::render {

ScriptLines component_lines() {
  const auto reasons = by_rule("srun takes these for options of every component that does not say its own");
  return {
      Comment{"These counts of the first component would apply to all; each has its own options below.",
              reasons},
      CommandLine{literals({"unset", "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK",
                            "SLURM_NTASKS", "SLURM_NPROCS", "SLURM_NTASKS_PER_NODE", "SLURM_THREADS_PER_CORE",
                            "SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK", "SLURM_CPUS_PER_GPU",
                            "SLURM_MEM_PER_NODE", "SLURM_MEM_PER_CPU", "SLURM_MEM_PER_GPU"}),
                  reasons}};
}

JobStepLine component_step(const JobStepInput& first) {
  JobStepLine all;
  const auto add = [&](const JobStepInput& step, std::size_t number) {
    auto groups = launch_groups(step);
    const auto component = ScriptWord::literal("--het-group=" + std::to_string(number));
    auto& start = groups.front(); // "srun …"
    if (number == 0)
      start.insert(start.begin() + 1, component);
    else
      start.insert(start.erase(start.begin()), {ScriptWord::literal(":"), component});
    for (auto& group : groups) all.groups.push_back(std::move(group));
    for (auto& reason : step_reasons(step.plan)) all.reasons.push_back(std::move(reason));
  };
  add(first, 0);
  std::size_t number = 0;
  for (const auto& component : first.plan.components) {
    const auto& words = component.steps.empty() ? component.command : first.program.command;
    add({component, {words, {}}, component.launcher.step_args}, ++number);
  }
  return all;
}

} // namespace hpcml::render
