// SPDX-License-Identifier: MIT
// A machine without Slurm.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_no_scheduler {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/no-scheduler"))
      hits.add({{}, part.describe(violation), "use hpcml launch -- CMD to start the program"});
  return hits;
}

} // namespace site_no_scheduler

Rule rule_site_no_scheduler() {
  using namespace site_no_scheduler;
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
      .find = find,
  };
}

} // namespace hpcml::check
