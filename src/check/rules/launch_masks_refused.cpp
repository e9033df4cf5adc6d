// SPDX-License-Identifier: MIT
// Masks in a step whose CPUs Slurm chooses.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_masks_refused {

/// Whether the tasks' CPUs by number are all that the node has: then there is nothing to choose.
bool fills_node(const LintContext& subject, const LaunchShape& shape, long cpus_per_task) {
  const auto* node = only_node(subject);
  return !node || !shape.tasks_per_node ||
         *shape.tasks_per_node * cpus_per_task >= static_cast<long>(node->cpu.cores);
}

bool is_shared(const LintContext& subject) {
  if (subject.fits.size() != 1 || subject.requests[0].sharing == slurm::NodeSharing::exclusive ||
      subject.fits[0].facts.whole_nodes)
    return false;
  const auto& partitions = subject.fits[0].partitions;
  return partitions.size() == 1 && !partitions[0]->exclusive &&
         partitions[0]->slurm_exclusive.value_or(false) == false &&
         subject.site->binding.value == model::WholeNodeBinder::masks;
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || !subject.may_be("22.05-")) return {};
  RuleMatches hits;
  for (const auto& [launch, step, masks] : masked_launches(subject)) {
    const auto shape = shape_of(subject, *launch);
    const auto* cpus = step->find("cpus-per-task");
    const auto count = cpus && cpus->value ? number_of(*cpus->value, shape) : std::nullopt;
    const bool chosen =
        count && (only_node(subject) ? !fills_node(subject, shape, *count)
                                     : *count > 1 && subject.requests[0].count("cpus-per-task") == *count);
    const long inherited = subject.requests[0].count("cpus-per-task");
    const bool takes_over = !cpus && inherited > 1 && subject.version_known &&
                            slurm::is_in_range("23.11-", subject.version) &&
                            !fills_node(subject, shape, inherited) &&
                            subject.text.find("SLURM_TRES_PER_TASK") == std::string_view::npos;
    if (chosen || takes_over)
      add_match(hits, {masks.option->place,
                       fmt::format("with --cpus-per-task {}Slurm itself chooses the CPUs of the step and "
                                   "rejects masks with others",
                                   takes_over ? "of the job, which srun inherits, " : ""),
                       "to use masks, remove -c from srun and add before it: unset SLURM_CPUS_PER_TASK "
                       "SRUN_CPUS_PER_TASK SLURM_TRES_PER_TASK"});
    else if (is_shared(subject))
      add_match(hits, {masks.option->place,
                       fmt::format("masks need a whole node, but partition {} shares nodes: Slurm rejects "
                                   "CPUs that the job does not have",
                                   subject.fits[0].partitions[0]->name),
                       "add --exclusive, or use --cpu-bind=cores instead of masks"});
  }
  return hits;
}

} // namespace launch_masks_refused

Rule rule_launch_masks_refused() {
  using namespace launch_masks_refused;
  return {
      .id = "launch/masks-refused",
      .severity = diag::Severity::warning,
      .title = "Masks that Slurm rejects",
      .why = "--cpus-per-task on srun implies --exact: the step gets that many CPUs of Slurm's choice, and a "
             "mask "
             "with any other bit ends it with \"CPU binding "
             "outside of job step allocation\". The same on a node that others share.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_exact",
      .bad = {R"(#!/bin/bash
#SBATCH -p standard-g -N1 -n8 --gpus-per-node=8 -A project_465000001 -t 10
srun -c 2 --cpu-bind=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,0xfe00000000,0xfe0000000000 python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -p standard-g -N1 -n8 -c7 --gpus-per-node=8 -A project_465000001 -t 10
unset SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK SLURM_TRES_PER_TASK
srun --cpu-bind=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,0xfe00000000,0xfe0000000000 python train.py
)",
               "lumi", "24.05"},
      .find = find,
  };
}

} // namespace hpcml::check
