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
  return {"site/no-scheduler",
          diag::Severity::error,
          "Site without Slurm",
          "A batch script needs sbatch; where there is none the directives are only comments.",
          "https://slurm.schedmd.com/sbatch.html",
          {{R"(#!/bin/bash
#SBATCH --time=10
srun true
)",
            "local"},
           {R"(#!/bin/bash
#SBATCH -N2
srun true
)",
            "local"},
           {R"(#!/bin/bash
python train.py
)",
            "local"}},
          {{R"(#!/bin/bash
#SBATCH --time=10
srun true
)",
            "generic"},
           k_lumi_job,
           {R"(#!/bin/bash
#SBATCH --time=10
srun true
)"}},
          find};
}

} // namespace hpcml::check
