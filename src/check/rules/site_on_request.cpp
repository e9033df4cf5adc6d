// SPDX-License-Identifier: MIT
// Partitions and QoS that one applies for.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_on_request {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/on-request")) {
      const bool qos = violation.rule == site_rules::SiteRule::qos_on_request;
      hits.push_back({part.place({qos ? "qos" : "partition"}), part.describe(violation),
                      cite("request access from the site, if you have none", violation.origin)});
    }
  return hits;
}

} // namespace site_on_request

Rule rule_site_on_request() {
  using namespace site_on_request;
  return {
      .id = "site/on-request",
      .severity = diag::Severity::note,
      .title = "Partition or QoS on request only",
      .why = "A job in a partition that is not open to its account is refused, whatever else it says.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_AllowAccounts",
      .bad = {R"(#!/bin/bash
#SBATCH --account=g1
#SBATCH -p low
#SBATCH -N1
#SBATCH -t 10
srun true
)",
              "alps_clariden"},
      .good = {R"(#!/bin/bash
#SBATCH --account=g1
#SBATCH -p normal
#SBATCH -N1
#SBATCH -t 10
srun true
)",
               "alps_clariden"},
      .find = find,
  };
}

} // namespace hpcml::check
