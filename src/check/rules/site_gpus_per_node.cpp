// SPDX-License-Identifier: MIT
// More GPUs of a node than it has.
#include "check/site_rule.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

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

std::string hint_for(const ComponentAtSite& part, const site_rules::PolicyViolation& violation) {
  const std::uint64_t nodes = part.demand.nodes, most = violation.limit;
  if (violation.rule != site_rules::SiteRule::gpus_of_node)
    return fmt::format("request {}", util::counted((violation.have + most - 1) / most, "node"));
  const auto others = partitions_with(part.site, static_cast<unsigned>(violation.have));
  return others.empty() ? fmt::format("request more nodes: --nodes={} with {} each",
                                      (violation.have * nodes + most - 1) / most, util::counted(most, "GPU"))
                        : fmt::format("use a partition with enough GPUs per node: {}", others);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpus-per-node")) {
      RuleMatch hit{part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                    part.describe(violation), cite(hint_for(part, violation), violation.origin)};
      hit.severity = severity_of(violation);
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_gpus_per_node

Rule rule_site_gpus_per_node() {
  using namespace site_gpus_per_node;
  return {
      .id = "site/gpus-per-node",
      .severity = diag::Severity::error,
      .title = "More GPUs than a node has",
      .why = "No node can hold the job: requested node configuration is not available.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpus-per-node",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=9
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
srun true
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
