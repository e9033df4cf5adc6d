// SPDX-License-Identifier: MIT
// Numbers of nodes that the partition, the QoS or the site does not give.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_nodes {

using site_rules::SiteRule;

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/nodes"))
      hits.push_back(
          {part.place({"nodes", "nodelist", "ntasks", "gpus"}),
           part.describe(violation),
           cite(violation.rule == SiteRule::nodes_not_connected ? "request one node" : "", violation.origin),
           {},
           severity_of(violation)});
  return hits;
}

} // namespace site_nodes

Rule rule_site_nodes() {
  using namespace site_nodes;
  return {
      .id = "site/nodes",
      .severity = diag::Severity::error,
      .title = "Number of nodes that the site does not allow",
      .why = "A job for more nodes than its partition allows is refused, or waits for ever with the reason "
             "PartitionNodeLimit.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_MaxNodes",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
#SBATCH -N5
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
#SBATCH -N4
srun true
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
