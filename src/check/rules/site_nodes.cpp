// SPDX-License-Identifier: MIT
// Numbers of nodes that the partition, the QoS or the site does not give.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_nodes {

using site::SiteRule;

std::string words_of(const SitePart& part, const site::Verdict& verdict) {
  const auto limit = std::to_string(verdict.limit);
  switch (verdict.rule) {
  case SiteRule::nodes_of_user: return "one user of " + part.site.name + " may have " + limit;
  case SiteRule::nodes_apart: return "these nodes have no network for jobs on several of them";
  case SiteRule::nodes_over: return verdict.owner + " allows " + limit;
  case SiteRule::nodes_of_partition: return verdict.owner + " has " + limit;
  case SiteRule::nodes_of_kind: return part.site.name + " has " + limit + " of this kind";
  default: return verdict.owner + " is for jobs with " + limit + " or more";
  }
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/nodes"))
      hits.push_back(
          {part.place({"nodes", "nodelist", "ntasks", "gpus"}),
           count_text(verdict.have, "node") + ": " + words_of(part, verdict),
           with_source(verdict.rule == SiteRule::nodes_apart ? "ask for one node" : "", verdict.origin),
           {},
           severity_of(verdict)});
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
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=8\n#SBATCH -N5\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p boost_usr_prod\n#SBATCH "
            "--qos=boost_qos_bprod\n#SBATCH --gres=gpu:4\n#SBATCH -N 64\nsrun true\n",
            "leonardo"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --qos=gpu-exc\n#SBATCH "
            "--exclusive\n#SBATCH --gpus=12\n#SBATCH -N3\nsrun true\n",
            "archer2_gpu"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p dev-g\n#SBATCH "
            "--gpus-per-node=8\n#SBATCH --nodes=33-40\nsrun true\n",
            "lumi"}},
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=8\n#SBATCH -N4\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g,standard-g\n#SBATCH --gpus-per-node=8\n#SBATCH -N8\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p boost_usr_prod\n#SBATCH "
            "--qos=boost_qos_bprod\n#SBATCH --gres=gpu:4\n#SBATCH -N 128\nsrun true\n",
            "leonardo"}},
          find};
}

} // namespace hpcml::check
