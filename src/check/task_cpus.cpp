// SPDX-License-Identifier: MIT
#include "check/task_cpus.hpp"

#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace {

/// True if the step binds its tasks to their CPUs.
bool is_bound(const Link& step) {
  return step.program == "srun" && step.complete &&
         !find_any(step, {"cpu-bind", "overcommit", "cpus-per-gpu", "exact", "whole"});
}

} // namespace

long cpus_of_task(const LintContext& subject, const Launch& launch, const LaunchShape& shape) {
  const auto& request = subject.requests[0];
  if (const auto* step = launch.step()) {
    // Which versions of srun read these differs.
    if (!is_bound(*step) || launch.variable("SLURM_CPUS_PER_TASK")) return 0;
    const auto* own = launch.variable("SRUN_CPUS_PER_TASK");
    if (own && !is_cpus_per_task(*own)) return 0;
    const auto* option = step->find("cpus-per-task");
    if (!option) return request.count("cpus-per-task");
    if (!option->value) return 0;
    return is_cpus_per_task(*option->value) ? request.count("cpus-per-task")
                                            : number_of(*option->value, shape).value_or(0);
  }
  const bool owns_node = request.sharing == slurm::NodeSharing::exclusive || request.text("mem") == "0" ||
                         (subject.fits.size() == 1 && subject.fits[0].owns_nodes());
  // The script runs on the first node, with the CPUs of the tasks there.
  return !owns_node && shape_of_job(subject).tasks_per_node == 1 ? request.count("cpus-per-task") : 0;
}

std::optional<long> processes_of_task(const Launch& launch, const LaunchShape& shape) {
  const auto* agent = launch.agent();
  if (!agent) return launch.python() && !launch.find("hpcml") ? std::optional(1L) : std::nullopt;
  if (!agent->complete) return std::nullopt;
  if (const auto* option = agent->find(model::OptionMeaning::ranks_per_node))
    return option->value ? number_of(*option->value, shape) : std::nullopt;
  const auto* row = model::find_launcher(agent->program);
  const bool one_per_gpu = row && !row->one_without_ranks && !row->reads_config &&
                           !find_any(*agent, {"include", "exclude", "hostfile"});
  return one_per_gpu ? shape.gpus_per_node : std::nullopt;
}

bool is_cpus_per_task(const shell::Argument& word) {
  const auto* only = only_unknown_piece(word);
  return only && (only->text == "$SLURM_CPUS_PER_TASK" || only->text == "${SLURM_CPUS_PER_TASK}" ||
                  only->text.starts_with("${SLURM_CPUS_PER_TASK:-"));
}

} // namespace hpcml::check
