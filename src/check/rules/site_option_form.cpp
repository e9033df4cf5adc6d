// SPDX-License-Identifier: MIT
// Accounts and other names that are not of the form that the site has.

#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_option_form {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/option-form")) {
      const auto& rule = *violation.flag;
      const auto& name = violation.name;
      const auto value = part.demand.text(name);
      const bool suffix = violation.rule == site_rules::SiteRule::option_suffix;
      RuleMatch hit{part.place({name}), part.describe(violation),
                    cite(rule.pattern_hint.empty() ? "" : fmt::format("use --{}={}", name, rule.pattern_hint),
                         rule.origin)};
      hit.severity = severity_of(violation);
      if (suffix && value.find('@') == std::string::npos && !part.fit.nodes.empty())
        hit.fix = replace_in(subject, hit.place, value, value + rule.suffix);
      hits.push_back(std::move(hit));
    }
  return hits;
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
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
