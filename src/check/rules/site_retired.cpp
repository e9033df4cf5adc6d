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
  return {"site/retired",
          diag::Severity::error,
          "Retired site",
          "A retired cluster takes no jobs; its names and directives rarely fit its successor.",
          "https://docs.alliancecan.ca/wiki/Cedar",
          {{R"(#!/bin/bash
#SBATCH --time=10
srun true
)",
            "cedar"},
           {R"(#!/bin/bash
#SBATCH --time=10
#SBATCH --account=def-me
srun true
)",
            "graham"},
           {R"(#!/bin/bash
#SBATCH -N1
srun true
)",
            "puhti"}},
          {k_lumi_job,
           {R"(#!/bin/bash
#SBATCH --time=10
#SBATCH --account=def-me
#SBATCH --gpus-per-node=h100:1
srun true
)",
            "fir"},
           {R"(#!/bin/bash
#SBATCH --time=10
srun true
)"}},
          find};
}

} // namespace hpcml::check
