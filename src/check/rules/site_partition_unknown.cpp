// SPDX-License-Identifier: MIT
// Partitions that the site does not have.
#include "check/site_rule.hpp"
#include "check/typo.hpp"
#include "core/site_rules/site_text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_partition_unknown {

bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (violation.rule == site_rules::SiteRule::partition_not_described) return false;
  const auto meant = nearest_typo(violation.name, site_rules::partition_names(part.site));
  // Profiles omit partitions that are not for everybody; a typo of one of theirs hardly is one of those.
  if (meant) {
    match.severity = diag::Severity::warning;
    match.hint = fmt::format("use --partition={}", *meant);
    match.fix = replace_in(subject, match.place, violation.name, *meant);
  }
  // A name that the profile does not list can be a group's own.
  return meant || violation.certainty != site_rules::Confidence::advisory;
}

} // namespace site_partition_unknown

Rule rule_site_partition_unknown() {
  using namespace site_partition_unknown;
  return {
      .id = "site/partition-unknown",
      .severity = diag::Severity::note,
      .title = "Unknown partition",
      .why =
          "sbatch refuses a job for a partition that does not exist: invalid partition specified. A note, as "
          "sites have partitions for some users only, of which their documents and so the profiles say "
          "nothing; a warning where the name looks like a typo of one that the profile has.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_partition",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH --partition=standrad-g
#SBATCH --gpus-per-node=8
srun true
)",
              "lumi"},
      .good = k_lumi_job,
      .find =
          [](const LintContext& subject) {
            return match_violations(subject, "site/partition-unknown", complete);
          },
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
