// SPDX-License-Identifier: MIT
// More GPUs of a node than it has.
#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_gpus_per_node {

std::string partitions_with(const model::Site& site, unsigned gpus) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    for (const auto& id : partition.node_types)
      if (const auto* node = site.find_node_type(id); node && node->gpu && node->gpu->per_node >= gpus &&
                                                      partition.nameable &&
                                                      (names.empty() || names.back() != partition.name))
        names.push_back(partition.name);
  return util::join(names, ", ");
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/gpus-per-node")) {
      const std::uint64_t nodes = part.demand.nodes, most = verdict.limit;
      const auto there = "the nodes here have " + std::to_string(most);
      Hit hit{part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}), {}};
      hit.severity = severity_of(verdict);
      if (verdict.rule == site::SiteRule::gpus_of_node) {
        const auto others = partitions_with(part.site, static_cast<unsigned>(verdict.have));
        hit.message = count_text(verdict.have, "GPU") + " per node: " + there;
        hit.hint =
            others.empty()
                ? "ask for more nodes: --nodes=" + std::to_string((verdict.have * nodes + most - 1) / most) +
                      " with " + std::to_string(most) + " each"
                : "partitions with as many: " + others;
      } else {
        hit.message =
            count_text(verdict.have, "GPU") + " on " + count_text(nodes, "node") + ": " + there + " each";
        hit.hint = "ask for " + count_text((verdict.have + most - 1) / most, "node");
      }
      hit.hint = with_source(hit.hint, verdict.origin);
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_gpus_per_node

Rule rule_site_gpus_per_node() {
  using namespace site_gpus_per_node;
  return {"site/gpus-per-node",
          diag::Severity::error,
          "More GPUs than a node has",
          "No node can hold the job: requested node configuration is not available.",
          "https://slurm.schedmd.com/sbatch.html#OPT_gpus-per-node",
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=9\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus-per-node=8\n#SBATCH -N2\nsrun "
            "true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus=8\n#SBATCH -N1\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -p boost_usr_prod\n#SBATCH -t 10\n#SBATCH --gres=gpu:8\nsrun "
            "true\n",
            "leonardo"},
           {"#!/bin/bash\n#SBATCH -A def-x\n#SBATCH -p mine -t 60\n#SBATCH --gres=gpu:a100:8\nsrun true\n",
            "narval"}},
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "standard-g\n#SBATCH --gpus-per-node=8\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus=8\n#SBATCH -N2\nsrun true\n",
            "snellius"},
           {"#!/bin/bash\n#SBATCH -p gpu_h100\n#SBATCH -t 10\n#SBATCH --gpus=8\nsrun true\n", "snellius"},
           {"#!/bin/bash\n#SBATCH -A x\n#SBATCH -p boost_usr_prod\n#SBATCH -t 10\n#SBATCH --gres=gpu:4\nsrun "
            "true\n",
            "leonardo"}},
          find};
}

} // namespace hpcml::check
