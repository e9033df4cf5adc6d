// SPDX-License-Identifier: MIT
// Options that the site ignores.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_option_ignored {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/option-ignored")) {
      const auto place = part.place({violation.name});
      hits.push_back({place, part.describe(violation),
                      cite(fmt::format("remove --{}", violation.name), violation.origin),
                      remove_option(subject, place)});
    }
  return hits;
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
      .find = find,
  };
}

} // namespace hpcml::check
