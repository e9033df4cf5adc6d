// SPDX-License-Identifier: MIT
// More GPUs of a node than it has.
#include "check/site_rule.hpp"
#include "core/util/text.hpp"

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

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpus-per-node")) {
      const std::uint64_t nodes = part.demand.nodes, most = violation.limit;
      const auto node_gpus = "the nodes here have " + std::to_string(most);
      RuleMatch hit{part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}), {}};
      hit.severity = severity_of(violation);
      if (violation.rule == site_rules::SiteRule::gpus_of_node) {
        const auto others = partitions_with(part.site, static_cast<unsigned>(violation.have));
        hit.message = util::counted(violation.have, "GPU") + " per node: " + node_gpus;
        hit.hint = others.empty() ? "ask for more nodes: --nodes=" +
                                        std::to_string((violation.have * nodes + most - 1) / most) +
                                        " with " + std::to_string(most) + " each"
                                  : "partitions with as many: " + others;
      } else {
        hit.message = util::counted(violation.have, "GPU") + " on " + util::counted(nodes, "node") + ": " +
                      node_gpus + " each";
        hit.hint = "ask for " + util::counted((violation.have + most - 1) / most, "node");
      }
      hit.hint = append_citation(hit.hint, violation.origin);
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
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=9
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=8
#SBATCH -N2
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=8
#SBATCH -N1
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -p boost_usr_prod
#SBATCH -t 10
#SBATCH --gres=gpu:8
srun true
)",
            "leonardo"},
           {R"(#!/bin/bash
#SBATCH -A def-x
#SBATCH -p mine -t 60
#SBATCH --gres=gpu:a100:8
srun true
)",
            "narval"}},
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=8
#SBATCH -N2
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=8
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -p boost_usr_prod
#SBATCH -t 10
#SBATCH --gres=gpu:4
srun true
)",
            "leonardo"}},
          find};
}

} // namespace hpcml::check
