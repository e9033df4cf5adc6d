// SPDX-License-Identifier: MIT
// SLURM_CPUS_PER_TASK set by hand, which srun compares with what the job has.
#include "check/launch_facts.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace launch_cpus_per_task_changed {

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1 || !subject.may_be("23.11-")) return {};
  const auto is_requested = subject.requests[0].count("cpus-per-task");
  if (is_requested < 1) return {};
  RuleMatches hits;
  for (const auto& seen : seen_variables(subject, {"SLURM_CPUS_PER_TASK"})) {
    const auto* step = seen.launch->step();
    if (!step || step->program != "srun" || !step->complete || step->find("cpus-per-task")) continue;
    if (!seen.value->known() || seen.value->caveat || seen.value->text() == std::to_string(is_requested) ||
        seen.value->text().empty())
      continue;
    if (subject.text.find("SLURM_TRES_PER_TASK") != std::string_view::npos) continue;
    add_match(hits, {seen.set_at,
                     fmt::format("srun stops from Slurm 23.11 on: SLURM_CPUS_PER_TASK={} does not agree with "
                                 "SLURM_TRES_PER_TASK, which says {}",
                                 seen.value->text(), is_requested),
                     fmt::format("remove the assignment of Slurm's variable and use srun --cpus-per-task={}",
                                 seen.value->text()),
                     {},
                     subject.version_known ? std::nullopt : std::optional(diag::Severity::warning)});
  }
  return hits;
}

} // namespace launch_cpus_per_task_changed

Rule rule_launch_cpus_per_task_changed() {
  using namespace launch_cpus_per_task_changed;
  return {
      .id = "launch/cpus-per-task-changed",
      .severity = diag::Severity::error,
      .title = "SLURM_CPUS_PER_TASK set by hand",
      .why = "From 23.11 the job's value is in SLURM_TRES_PER_TASK as well. Where the two disagree srun ends "
             "with "
             "\"set by two different environment variables\" "
             "before anything starts.",
      .link = "https://github.com/SchedMD/slurm/blob/master/CHANGELOG/slurm-23.11.md",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export SLURM_CPUS_PER_TASK=4
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=4 --cpus-per-task=8
export SLURM_CPUS_PER_TASK=4
srun python train.py
)",
               "", "22.05"},
      .find = find,
  };
}

} // namespace hpcml::check
