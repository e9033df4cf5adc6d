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
  return {"site/nodes",
          diag::Severity::error,
          "Number of nodes that the site does not allow",
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
