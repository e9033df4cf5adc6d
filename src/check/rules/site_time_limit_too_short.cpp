// SPDX-License-Identifier: MIT
// Time limits under what the site takes.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_time_limit_too_short {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/time-limit-too-short")) {
      const auto least = model::Walltime::of(std::chrono::seconds(violation.limit)).to_slurm();
      hits.push_back({part.place({"time"}),
                      part.describe(violation),
                      cite(fmt::format("use --time={} or more", least), violation.origin),
                      {},
                      severity_of(violation)});
    }
  return hits;
}

} // namespace site_time_limit_too_short

Rule rule_site_time_limit_too_short() {
  using namespace site_time_limit_too_short;
  return {"site/time-limit-too-short",
          diag::Severity::error,
          "Time limit below the minimum of the site",
          "Sites that want few short jobs refuse those below a least time.",
          "https://docs.alliancecan.ca/wiki/Trillium_Quickstart",
          {{R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=4
#SBATCH -t 5
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=1
#SBATCH -t 00:10:00
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH -A def-me
#SBATCH --gpus-per-node=h100:1
#SBATCH -t 30
srun true
)",
            "fir"}},
          {{R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=4
#SBATCH -t 15
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH -A def-me
#SBATCH --gpus-per-node=h100:1
#SBATCH -t 60
srun true
)",
            "fir"},
           {R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=4
#SBATCH -p debug
#SBATCH -t 5
srun true
)",
            "trillium"}},
          find};
}

} // namespace hpcml::check
