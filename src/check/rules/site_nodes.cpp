// SPDX-License-Identifier: MIT
// Numbers of nodes that the partition, the QoS or the site does not give.
#include "check/site_rule.hpp"
#include "site/limits.hpp"

namespace hpcml::check {
namespace site_nodes {

using model::Limits;

std::string owner_of(const SitePart& part, model::Known<unsigned> Limits::*which) {
  return site::limit_owner(part.site, part.fit.qos, part.fit.partition(), which);
}

/// All nodes of these kinds; 0 if unknown.
unsigned nodes_there(const SitePart& part) {
  unsigned all = 0;
  for (const auto* node : part.fit.nodes) {
    if (!node->node_count) return 0;
    all += *node->node_count;
  }
  return all;
}

bool may_span_nodes(const SitePart& part) {
  for (const auto* node : part.fit.nodes)
    if (node->multi_node) return true;
  return part.fit.nodes.empty();
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto& fit = part.fit;
    const unsigned nodes = part.demand.nodes;
    const auto place = part.place({"nodes", "nodelist", "ntasks", "gpus"});
    const auto add = [&](const std::string& what, const std::string& hint, const model::Origin& origin,
                         diag::Severity severity) {
      hits.push_back(
          {place, count_text(nodes, "node") + ": " + what, with_source(hint, origin), {}, severity});
    };
    if (const auto& most = part.site.policies.max_nodes_per_user; most && nodes > most->value)
      add("one user of " + part.site.name + " may have " + std::to_string(most->value), {}, most->origin,
          part.severity());
    if (nodes > 1 && !may_span_nodes(part))
      add("these nodes have no network for jobs on several of them", "ask for one node",
          fit.nodes.front()->origin, part.severity());
    if (fit.partitions.size() != 1) continue; // one of several may take it
    const auto& partition = *fit.partition();
    const auto& most = site::limit_of(fit.qos, &partition, &Limits::max_nodes);
    if (most && nodes > most->value)
      add(owner_of(part, &Limits::max_nodes) + " allows " + std::to_string(most->value), {}, most->origin,
          part.severity());
    else if (!most && partition.node_count && nodes > partition.node_count->value)
      add("partition " + partition.name + " has " + std::to_string(partition.node_count->value), {},
          partition.node_count->origin, part.severity());
    else if (const unsigned there = nodes_there(part); !most && there > 0 && nodes > there)
      add(part.site.name + " has " + std::to_string(there) + " of this kind", {}, fit.nodes.front()->origin,
          diag::Severity::warning);
    if (const auto& least = site::limit_of(fit.qos, &partition, &Limits::min_nodes);
        least && nodes < least->value)
      add(owner_of(part, &Limits::min_nodes) + " is for jobs with " + std::to_string(least->value) +
              " or more",
          {}, least->origin, part.severity());
  }
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
