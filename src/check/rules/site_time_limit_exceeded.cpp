// SPDX-License-Identifier: MIT
// Time limits over those of the partition or the QoS.
#include <algorithm>

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
  return names.empty() ? "ask for less and save checkpoints" : "long enough: " + util::join(names, ", ");
}

/// Nodes times time over what the partition or the QoS allows.
RuleMatch too_much(const ComponentAtSite& part, const site_rules::PolicyViolation& violation) {
  const unsigned nodes = part.demand.nodes;
  return {part.place({"time"}),
          util::counted(nodes, "node") + " for " + util::counted(violation.have, "minute") + ": " +
              std::to_string(violation.limit) + " node minutes are allowed",
          append_citation("at most " + util::counted(violation.limit / nodes, "minute"), violation.origin),
          {},
          severity_of(violation)};
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/time-limit-exceeded")) {
      if (violation.rule == site_rules::SiteRule::node_minutes) {
        hits.push_back(too_much(part, violation));
        continue;
      }
      const auto& time = part.demand.time;
      const auto limit = Walltime::of(std::chrono::seconds(violation.limit));
      hits.push_back(
          {part.place({"time"}),
           "the time limit " + (time ? time->to_slurm() : std::string("no limit")) + " is over that of " +
               violation.owner + ", " + limit.to_slurm(),
           append_citation(time ? long_enough(part, *time) : "say how long it may run", violation.origin),
           {},
           severity_of(violation)});
    }
  return hits;
}

} // namespace site_time_limit_exceeded

Rule rule_site_time_limit_exceeded() {
  using namespace site_time_limit_exceeded;
  return {"site/time-limit-exceeded",
          diag::Severity::error,
          "More time than the site gives",
          "A job over the limit of its partition is refused, or waits for ever with the reason "
          "PartitionTimeLimit.",
          "https://slurm.schedmd.com/slurm.conf.html#OPT_EnforcePartLimits",
          {{R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=04:00:00
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p standard-g,dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=3-0
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=x
#SBATCH -N 10
#SBATCH --time=03:00:00
srun true
)",
            "frontier"},
           {R"(#!/bin/bash
#SBATCH -A me
#SBATCH --gpus-per-node=h100:4
#SBATCH -t UNLIMITED
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH -A g1
#SBATCH -p debug
#SBATCH -N 4
#SBATCH -t 60
srun true
)",
            "alps_clariden"}},
          {{R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=03:00:00
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p standard-g,small-g
#SBATCH --gpus-per-node=8
#SBATCH --time=3-0
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=x
#SBATCH -N 100
#SBATCH --time=03:00:00
srun true
)",
            "frontier"},
           {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=4:0:0
#SBATCH --time-min=60
srun true
)",
            "lumi"}},
          find};
}

} // namespace hpcml::check
