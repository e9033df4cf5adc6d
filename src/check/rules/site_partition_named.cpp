// SPDX-License-Identifier: MIT
// Partitions that jobs may not name.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_partition_named {

bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  using site_rules::SiteRule;
  if (violation.rule == SiteRule::partition_refused ||
      (violation.rule == SiteRule::partition_chosen && part.demand.partitions.size() == 1))
    match.fix = remove_option(subject, match.place);
  return true;
}

} // namespace site_partition_named

Rule rule_site_partition_named() {
  using namespace site_partition_named;
  return {
      .id = "site/partition-named",
      .severity = diag::Severity::error,
      .title = "Partition named although the site chooses it",
      .why =
          "Some sites choose the partition by what a job asks for: they refuse jobs that name one, or ask to "
          "leave that to the scheduler.",
      .link = "https://docs.alliancecan.ca/wiki/Job_scheduling_policies",
      .bad = {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=1:0:0
#SBATCH -p compute
#SBATCH --gpus-per-node=4
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=1:0:0
#SBATCH --gpus-per-node=h100:1
srun true
)",
               "fir"},
      .find =
          [](const LintContext& subject) {
            return match_violations(subject, "site/partition-named", complete);
          },
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
