// SPDX-License-Identifier: MIT
// Features that the site does not have.
#include "check/site_rule.hpp"
#include "check/typo.hpp"

namespace hpcml::check {
namespace site_constraint {

bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (violation.rule == site_rules::SiteRule::constraint_operator) return true;
  const auto& known = part.site.constraints;
  if (const auto meant = nearest_typo(violation.name, known))
    match.fix = replace_in(subject, match.place, violation.name, *meant);
  // A profile lists the features of the nodes that it describes.
  if (part.fit.nodes.empty() && match.fix.empty()) match.severity = diag::Severity::note;
  return true;
}

} // namespace site_constraint

Rule rule_site_constraint() {
  using namespace site_constraint;
  return {
      .id = "site/constraint",
      .severity = diag::Severity::warning,
      .title = "Unknown feature",
      .why = "No node fits such a job: invalid feature specification. Capitals count.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_constraint",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C GPU
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
)",
              "perlmutter"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu&hbm80g
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
)",
               "perlmutter"},
      .find =
          [](const LintContext& subject) { return match_violations(subject, "site/constraint", complete); },
  };
}

} // namespace hpcml::check
