// SPDX-License-Identifier: MIT
// Accounts and other names that are not of the form that the site has.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_option_form {

bool complete(const LintContext& subject, const ComponentSiteEvaluation& part,
              const site_rules::PolicyViolation& violation, RuleMatch& match) {
  const auto value = part.demand.text(violation.name);
  if (violation.rule == site_rules::SiteRule::option_suffix && value.find('@') == std::string::npos &&
      !part.fit.nodes.empty())
    match.fix = replace_in(subject, match.place, value, value + violation.flag->suffix);
  return true;
}

} // namespace site_option_form

Rule rule_site_option_form() {
  using namespace site_option_form;
  return {
      .id = "site/option-form",
      .severity = diag::Severity::error,
      .title = "Value of an unexpected form",
      .why = "An account that does not exist is refused at submission: invalid account or account/partition "
             "combination. This also finds placeholders left in a script.",
      .link = "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/batch-job/",
      .bad = {R"(#!/bin/bash
#SBATCH -A abc
#SBATCH -t 60
#SBATCH -p gpu_p6
#SBATCH -C h100
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
)",
              "jean_zay"},
      .good = k_lumi_job,
      .find =
          [](const LintContext& subject) { return match_violations(subject, "site/option-form", complete); },
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
