// SPDX-License-Identifier: MIT
// Partitions that jobs may not name.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_partition_named {

RuleMatches find(const LintContext& subject) {
  using site_rules::SiteRule;
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/partition-named")) {
      const auto place = part.place({"partition"});
      RuleMatch hit{place, part.describe(violation), cite("remove --partition", violation.origin)};
      hit.severity = severity_of(violation);
      if (violation.rule == SiteRule::partition_refused ||
          (violation.rule == SiteRule::partition_chosen && part.demand.partitions.size() == 1))
        hit.fix = remove_option(subject, place);
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_partition_named

Rule rule_site_partition_named() {
  using namespace site_partition_named;
  return {
      .id = "site/partition-named",
      .severity = diag::Severity::error,
      .title = "Partition named although the site chooses it",
      .why =
          "Some sites choose the partition by what a job asks for: they refuse jobs that name one, or ask to "
          "leave that to the scheduler.",
      .link = "https://docs.alliancecan.ca/wiki/Job_scheduling_policies",
      .bad = {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=1:0:0
#SBATCH -p compute
#SBATCH --gpus-per-node=4
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH --time=1:0:0
#SBATCH --gpus-per-node=h100:1
srun true
)",
               "fir"},
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
