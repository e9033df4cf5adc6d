// SPDX-License-Identifier: MIT
// Whole nodes for a part of their GPUs.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_idle_gpus {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto& fit = part.fit;
    if (part.demand.gpus_per_node == 0 || !fit.sure || fit.nodes.size() != 1 || !fit.nodes.front()->gpu ||
        !fit.owns_nodes())
      continue;
    const unsigned there = fit.nodes.front()->gpu->per_node;
    const bool spread = part.size.gpus_per_node == 0 && !part.size.nodes_given;
    if (spread || part.demand.gpus_per_node >= there) continue;
    const auto* partition = fit.partition();
    const bool by_partition = partition && partition->exclusive;
    hits.push_back(
        {part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task"}),
         (by_partition ? "the partition gives" : "--exclusive gives") + std::string(" whole nodes: ") +
             count_text(there - part.demand.gpus_per_node, "GPU") + " of each stay idle and are charged",
         with_source("ask for all " + std::to_string(there) + ", or take a partition that shares nodes",
                     by_partition ? partition->origin : fit.nodes.front()->origin)});
  }
  return hits;
}

} // namespace site_idle_gpus

Rule rule_site_idle_gpus() {
  using namespace site_idle_gpus;
  return {"site/idle-gpus",
          diag::Severity::note,
          "A whole node for a part of its GPUs",
          "Where jobs have whole nodes, all GPUs of a node are charged and nobody else can use those that "
          "the job leaves idle.",
          "https://docs.lumi-supercomputer.eu/runjobs/lumi_env/billing/",
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH -N2\n#SBATCH --gpus-per-node=4\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --exclusive\n#SBATCH --gpus-per-node=2\nsrun true\n",
            "lumi"}},
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=8\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --exclusive\n#SBATCH --gpus-per-node=8\nsrun true\n",
            "lumi"}},
          find};
}

} // namespace hpcml::check
