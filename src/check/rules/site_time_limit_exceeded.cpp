// SPDX-License-Identifier: MIT
// Time limits over those of the partition or the QoS.
#include <algorithm>
#include <fmt/format.h>

#include "check/site_rule.hpp"
#include "core/site_rules/limits.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_time_limit_exceeded {

using model::Walltime;

std::string long_enough(const ComponentAtSite& part, Walltime time) {
  std::vector<std::string> names;
  for (const auto& partition : part.site.partitions) {
    const auto limit = site_rules::time_limit(partition, part.demand.nodes, part.fit.facts.gpu_count);
    const auto is_here = [&](const auto& id) {
      return !part.fit.nodes.empty() && id == part.fit.nodes.front()->id;
    };
    if (partition.nameable && limit && time <= limit->value &&
        (!partition.max_nodes || part.demand.nodes <= partition.max_nodes->value) &&
        std::any_of(partition.node_types.begin(), partition.node_types.end(), is_here))
      names.push_back(partition.name + " (" + limit->value.to_slurm() + ")");
  }
  return names.empty()
             ? "use a shorter time and save checkpoints"
             : fmt::format("use a shorter time or a partition that allows it: {}", util::join(names, ", "));
}

std::string hint_for(const ComponentAtSite& part, const site_rules::PolicyViolation& violation) {
  if (violation.rule == site_rules::SiteRule::node_minutes)
    return fmt::format("use --time={} or fewer nodes", violation.limit / part.demand.nodes);
  return part.demand.time ? long_enough(part, *part.demand.time)
                          : "set --time to the time that the job needs";
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/time-limit-exceeded"))
      hits.push_back({part.place({"time"}),
                      part.describe(violation),
                      cite(hint_for(part, violation), violation.origin),
                      {},
                      severity_of(violation)});
  return hits;
}

} // namespace site_time_limit_exceeded

Rule rule_site_time_limit_exceeded() {
  using namespace site_time_limit_exceeded;
  return {
      .id = "site/time-limit-exceeded",
      .severity = diag::Severity::error,
      .title = "Time limit above the maximum of the site",
      .why = "A job over the limit of its partition is refused, or waits for ever with the reason "
             "PartitionTimeLimit.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_EnforcePartLimits",
      .bad = {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=04:00:00
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=03:00:00
srun true
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
