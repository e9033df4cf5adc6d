// SPDX-License-Identifier: MIT
// QoS that do not go with the partition, or that need another option.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_qos_fit {

bool complete(const LintContext& subject, const ComponentSiteEvaluation&,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  if (violation.rule == site_rules::SiteRule::qos_needs)
    match.fix = add_directive_after(subject, match.place, violation.name);
  return true;
}

} // namespace site_qos_fit

Rule rule_site_qos_fit() {
  using namespace site_qos_fit;
  return {
      .id = "site/qos-fit",
      .severity = diag::Severity::error,
      .title = "QoS that does not fit the job",
      .why = "A QoS opens certain partitions, and some want whole nodes: other jobs are refused.",
      .link = "https://slurm.schedmd.com/qos.html",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --gpus=4
#SBATCH -N1
srun true
)",
              "archer2_gpu"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --gpus=4
#SBATCH -N1
#SBATCH --exclusive
srun true
)",
               "archer2_gpu"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/qos-fit", complete); },
  };
}

} // namespace hpcml::check
