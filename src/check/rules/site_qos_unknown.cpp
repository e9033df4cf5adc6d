// SPDX-License-Identifier: MIT
// QoS that the site does not have.
#include "check/site_rule.hpp"
#include "check/typo.hpp"

namespace hpcml::check {
namespace site_qos_unknown {

bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  std::vector<std::string> names;
  for (const auto& qos : part.site.qos) names.push_back(qos.name);
  if (const auto meant = nearest_typo(violation.name, names))
    match.fix = replace_in(subject, match.place, violation.name, *meant);
  return true;
}

} // namespace site_qos_unknown

Rule rule_site_qos_unknown() {
  using namespace site_qos_unknown;
  return {
      .id = "site/qos-unknown",
      .severity = diag::Severity::warning,
      .title = "Unknown QoS",
      .why = "sbatch refuses a job for a quality of service that does not exist, or that the account may not "
             "use: invalid qos specification.",
      .link = "https://slurm.schedmd.com/qos.html",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_dgb
#SBATCH --gres=gpu:4
srun true
)",
              "leonardo"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_dbg
#SBATCH --gres=gpu:4
srun true
)",
               "leonardo"},
      .find =
          [](const LintContext& subject) { return match_violations(subject, "site/qos-unknown", complete); },
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
