// SPDX-License-Identifier: MIT
// A site that takes no jobs any more.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_retired() {
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
      .find = [](const LintContext& subject) { return match_violations(subject, "site/retired"); },
  };
}

} // namespace hpcml::check
