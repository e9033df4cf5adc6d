// SPDX-License-Identifier: MIT
// A machine without Slurm.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_no_scheduler() {
  return {
      .id = "site/no-scheduler",
      .severity = diag::Severity::error,
      .title = "Site without Slurm",
      .why = "A batch script needs sbatch; where there is none the directives are only comments.",
      .link = "https://slurm.schedmd.com/sbatch.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
srun true
)",
              "local"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
srun true
)",
               "generic"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/no-scheduler"); },
  };
}

} // namespace hpcml::check
