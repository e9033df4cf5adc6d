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
      .find = find,
  };
}

} // namespace hpcml::check
