// SPDX-License-Identifier: MIT
// A site that takes no jobs any more.
#include "check/site_rule.hpp"
#include "core/site_rules/site_text.hpp"

namespace hpcml::check {
namespace site_retired {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/retired")) {
      const auto why = site_rules::describe_retirement(part.site);
      hits.add({{}, part.describe(violation), cite(why.hint, part.site.state_origin)});
    }
  return hits;
}

} // namespace site_retired

Rule rule_site_retired() {
  using namespace site_retired;
  return {
      .id = "site/retired",
      .severity = diag::Severity::error,
      .title = "Retired site",
      .why = "A retired cluster takes no jobs; its names and directives rarely fit its successor.",
      .link = "https://docs.alliancecan.ca/wiki/Cedar",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
srun true
)",
              "cedar"},
      .good = k_lumi_job,
      .find = find,
  };
}

} // namespace hpcml::check
