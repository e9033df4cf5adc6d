// SPDX-License-Identifier: MIT
// More GPUs of a node than it has.
#include <algorithm>

#include "check/site_rule.hpp"
#include "site/gpu_names.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_gpus_per_node {

/// Where the job may land; in a partition that the profile does not know the nodes with the named type of
/// GPU.
std::vector<const model::NodeType*> candidates(const SitePart& part) {
  auto nodes = part.fit.nodes;
  if (!nodes.empty() || part.demand.gpu_type.empty() || part.request.has("clusters")) return nodes;
  for (const auto& node : part.site.node_types)
    if (node.gpu && site::has_gpu_type(*node.gpu, part.demand.gpu_type)) nodes.push_back(&node);
  return nodes;
}

/// The most GPUs that one of the nodes has; nothing where one is not known, or has parts of GPUs that are
/// counted.
std::optional<unsigned> most_gpus(const SitePart& part) {
  unsigned most = 0;
  for (const auto* node : candidates(part)) {
    if (!node->gpu) continue;
    if (node->gpu->per_node == 0 || site::find_slice(*node->gpu, part.demand.gpu_type)) return std::nullopt;
    most = std::max(most, node->gpu->per_node);
  }
  return most > 0 ? std::optional(most) : std::nullopt;
}

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
  for (const auto& part : parts_of(subject)) {
    const auto most = most_gpus(part);
    const auto per_node = part.size.gpus_per_node;
    const bool exact = part.size.nodes_given && part.size.max_nodes == part.size.min_nodes;
    const auto nodes = static_cast<std::uint64_t>(part.demand.nodes);
    if (!most) continue;
    const auto place = part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"});
    if (per_node > *most) {
      const auto others = partitions_with(part.site, static_cast<unsigned>(per_node));
      const auto all = per_node * nodes;
      const auto hint = others.empty()
                            ? "ask for more nodes: --nodes=" + std::to_string((all + *most - 1) / *most) +
                                  " with " + std::to_string(*most) + " each"
                            : "partitions with as many: " + others;
      hits.push_back({place,
                      count_text(per_node, "GPU") + " per node: the nodes here have " + std::to_string(*most),
                      with_source(hint, candidates(part).front()->origin),
                      {},
                      part.severity()});
    } else if (exact && part.size.gpus > nodes * *most) {
      hits.push_back({place,
                      count_text(part.size.gpus, "GPU") + " on " + count_text(nodes, "node") +
                          ": the nodes here have " + std::to_string(*most) + " each",
                      with_source("ask for " + count_text((part.size.gpus + *most - 1) / *most, "node"),
                                  candidates(part).front()->origin),
                      {},
                      part.severity()});
    }
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
