// SPDX-License-Identifier: MIT
// Types of GPU that the site does not have.
#include "check/site_rule.hpp"
#include "core/site_rules/gpu_names.hpp"
#include <algorithm>
#include <fmt/format.h>

namespace hpcml::check {
namespace site_gpu_type {

/// A type in other capitals is fixed.
bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (violation.rule != site_rules::SiteRule::type_unknown) return true;
  const auto types = site_rules::gpu_type_names(part.fit.nodes);
  const auto& wanted = violation.name;
  const auto same = std::find_if(types.begin(), types.end(), [&](const auto& type) {
    return util::to_lower(type) == util::to_lower(wanted);
  });
  if (same == types.end()) return true;
  match.severity = part.severity();
  match.hint = fmt::format("use '{}': type names are case-sensitive", *same);
  match.fix = replace_in(subject, match.place, ":" + wanted, ":" + *same);
  if (match.fix.empty()) match.fix = replace_in(subject, match.place, wanted, *same);
  return true;
}

} // namespace site_gpu_type

Rule rule_site_gpu_type() {
  using namespace site_gpu_type;
  return {
      .id = "site/gpu-type",
      .severity = diag::Severity::warning,
      .title = "Unknown or missing GPU type",
      .why = "Slurm takes only the names of the site's configuration, with their capitals: invalid generic "
             "resource (gres) specification. Where there are several types, a job that names none gets any.",
      .link = "https://slurm.schedmd.com/gres.conf.html#OPT_Type",
      .bad = {R"(#!/bin/bash
#SBATCH -A naiss2024-1-1
#SBATCH -p alvis
#SBATCH -t 10
#SBATCH --gpus-per-node=a100:4
srun true
)",
              "alvis"},
      .good = {R"(#!/bin/bash
#SBATCH -A naiss2024-1-1
#SBATCH -p alvis
#SBATCH -t 10
#SBATCH --gpus-per-node=A100:4
srun true
)",
               "alvis"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/gpu-type", complete); },
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
