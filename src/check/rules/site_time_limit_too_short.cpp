// SPDX-License-Identifier: MIT
// Time limits under what the site takes.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_time_limit_too_short() {
  return {
      .id = "site/time-limit-too-short",
      .severity = diag::Severity::error,
      .title = "Time limit below the minimum of the site",
      .why = "Sites that want few short jobs refuse those below a least time.",
      .link = "https://docs.alliancecan.ca/wiki/Trillium_Quickstart",
      .bad = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=4
#SBATCH -t 5
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=4
#SBATCH -t 15
srun true
)",
               "trillium"},
      .find =
          [](const LintContext& subject) { return match_violations(subject, "site/time-limit-too-short"); },
  };
}

} // namespace hpcml::check
