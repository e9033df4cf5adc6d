// SPDX-License-Identifier: MIT
// Options that the site ignores.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_option_ignored {

bool complete(const LintContext& subject, const ComponentSiteEvaluation&, const site_rules::PolicyViolation&,
              RuleMatch& match) {
  match.fix = remove_option(subject, match.place);
  return true;
}

} // namespace site_option_ignored

Rule rule_site_option_ignored() {
  using namespace site_option_ignored;
  return {
      .id = "site/option-ignored",
      .severity = diag::Severity::note,
      .title = "Option that the site ignores",
      .why = "A line that does nothing makes its readers believe that the job has what it says.",
      .link = "https://slurm.schedmd.com/job_submit_plugins.html",
      .bad = {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=4
#SBATCH --mem=500G
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=4
srun true
)",
               "trillium"},
      .find =
          [](const LintContext& subject) {
            return match_violations(subject, "site/option-ignored", complete);
          },
  };
}

} // namespace hpcml::check
