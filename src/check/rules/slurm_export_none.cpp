// SPDX-License-Identifier: MIT
// Steps of a job without an environment, started without --export.
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_export_none {

/// Whether the script gives srun another default before.
bool is_overridden(const LintContext& subject) {
  return subject.text.find("SLURM_EXPORT_ENV") != std::string_view::npos ||
         subject.text.find("SRUN_EXPORT_ENV") != std::string_view::npos;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto* setting = subject.directive("export");
  if (!setting || !setting->value || util::to_lower(*setting->value) != "none" || is_overridden(subject))
    return hits;
  for (const auto& launch : subject.launches) {
    const auto& link = launch.chain.front();
    if (link.program != "srun" || launch.command->parent || !link.complete || link.find("export") ||
        link.find("export-file"))
      continue;
    const auto place = link.place;
    RuleMatch hit{place, "the tasks inherit nothing from the script's environment, not even PATH",
                  "use srun --export=ALL"};
    if (subject.text.substr(place.offset, place.length).ends_with("srun"))
      hit.fix = {{place.offset + place.length, 0, " --export=ALL"}};
    hits.push_back(std::move(hit));
  }
  return hits;
}

} // namespace slurm_export_none

Rule rule_slurm_export_none() {
  using namespace slurm_export_none;
  return {
      .id = "slurm/export-none",
      .severity = diag::Severity::warning,
      .title = "srun in a job with --export=NONE",
      .why = "With --export=NONE the job has SLURM_EXPORT_ENV=NONE, which srun reads as its own --export: "
             "the tasks "
             "start without PATH "
             "and without what the script exported, and \"execve: No such file or directory\" is all that is "
             "seen.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_export",
      .bad = {R"(#!/bin/bash
#SBATCH --export=NONE
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --export=NONE
srun --export=ALL python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
