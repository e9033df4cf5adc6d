// SPDX-License-Identifier: MIT
// Numbers of nodes that the partition, the QoS or the site does not give.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_nodes {

using site_rules::SiteRule;

std::string words_of(const ComponentAtSite& part, const site_rules::PolicyViolation& violation) {
  const auto limit = std::to_string(violation.limit);
  switch (violation.rule) {
  case SiteRule::max_nodes_per_user: return "one user of " + part.site.name + " may have " + limit;
  case SiteRule::nodes_not_connected: return "these nodes have no network for jobs on several of them";
  case SiteRule::nodes_over: return violation.owner + " allows " + limit;
  case SiteRule::nodes_of_partition: return violation.owner + " has " + limit;
  case SiteRule::nodes_of_kind: return part.site.name + " has " + limit + " of this kind";
  default: return violation.owner + " is for jobs with " + limit + " or more";
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/nodes"))
      hits.push_back(
          {part.place({"nodes", "nodelist", "ntasks", "gpus"}),
           util::counted(violation.have, "node") + ": " + words_of(part, violation),
           append_citation(violation.rule == SiteRule::nodes_not_connected ? "ask for one node" : "",
                           violation.origin),
           {},
           severity_of(violation)});
  return hits;
}

} // namespace site_nodes

Rule rule_site_nodes() {
  using namespace site_nodes;
  return {"site/nodes",
          diag::Severity::error,
          "More or fewer nodes than the site gives",
          "A job for more nodes than its partition allows is refused, or waits for ever with the reason "
          "PartitionNodeLimit.",
          "https://slurm.schedmd.com/slurm.conf.html#OPT_MaxNodes",
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
#SBATCH -N5
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_bprod
#SBATCH --gres=gpu:4
#SBATCH -N 64
srun true
)",
            "leonardo"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p gpu
#SBATCH --qos=gpu-exc
#SBATCH --exclusive
#SBATCH --gpus=12
#SBATCH -N3
srun true
)",
            "archer2_gpu"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --nodes=33-40
srun true
)",
            "lumi"}},
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
#SBATCH -N4
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g,standard-g
#SBATCH --gpus-per-node=8
#SBATCH -N8
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -t 10
#SBATCH -p boost_usr_prod
#SBATCH --qos=boost_qos_bprod
#SBATCH --gres=gpu:4
#SBATCH -N 128
srun true
)",
            "leonardo"}},
          find};
}

} // namespace hpcml::check
