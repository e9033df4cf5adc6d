// SPDX-License-Identifier: MIT
// Time limits over those of the partition or the QoS.
#include <algorithm>

#include "check/site_rule.hpp"
#include "site/limits.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_time_over {

using model::Walltime;

std::string long_enough(const SitePart& part, Walltime time) {
  std::vector<std::string> names;
  for (const auto& other : part.site.partitions) {
    const auto limit = site::time_limit(other, part.demand.nodes, part.fit.facts.gpu_count);
    const auto is_here = [&](const auto& id) {
      return !part.fit.nodes.empty() && id == part.fit.nodes.front()->id;
    };
    if (other.nameable && limit && time <= limit->value &&
        (!other.max_nodes || part.demand.nodes <= other.max_nodes->value) &&
        std::any_of(other.node_types.begin(), other.node_types.end(), is_here))
      names.push_back(other.name + " (" + limit->value.to_slurm() + ")");
  }
  return names.empty() ? "ask for less and save checkpoints" : "long enough: " + util::join(names, ", ");
}

/// Nodes times time over what the partition or the QoS allows.
Hit too_much(const SitePart& part, const site::Verdict& verdict) {
  const unsigned nodes = part.demand.nodes;
  return {part.place({"time"}),
          count_text(nodes, "node") + " for " + count_text(verdict.have, "minute") + ": " +
              std::to_string(verdict.limit) + " node minutes are allowed",
          with_source("at most " + count_text(verdict.limit / nodes, "minute"), verdict.origin),
          {},
          severity_of(verdict)};
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/time-over")) {
      if (verdict.rule == site::SiteRule::node_minutes) {
        hits.push_back(too_much(part, verdict));
        continue;
      }
      const auto& time = part.demand.time;
      const auto limit = Walltime::of(std::chrono::seconds(verdict.limit));
      hits.push_back(
          {part.place({"time"}),
           "the time limit " + (time ? time->to_slurm() : std::string("no limit")) + " is over that of " +
               verdict.owner + ", " + limit.to_slurm(),
           with_source(time ? long_enough(part, *time) : "say how long it may run", verdict.origin),
           {},
           severity_of(verdict)});
    }
  return hits;
}

} // namespace site_time_over

Rule rule_site_time_over() {
  using namespace site_time_over;
  return {
      "site/time-over",
      diag::Severity::error,
      "More time than the site gives",
      "A job over the limit of its partition is refused, or waits for ever with the reason "
      "PartitionTimeLimit.",
      "https://slurm.schedmd.com/slurm.conf.html#OPT_EnforcePartLimits",
      {{"#!/bin/bash\n#SBATCH -A project_462000001\n#SBATCH -p dev-g\n#SBATCH --gpus-per-node=8\n#SBATCH "
        "--time=04:00:00\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -A project_462000001\n#SBATCH -p standard-g,dev-g\n#SBATCH "
        "--gpus-per-node=8\n#SBATCH --time=3-0\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH --account=x\n#SBATCH -N 10\n#SBATCH --time=03:00:00\nsrun true\n", "frontier"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH --gpus-per-node=h100:4\n#SBATCH -t UNLIMITED\nsrun true\n",
        "trillium"},
       {"#!/bin/bash\n#SBATCH -A g1\n#SBATCH -p debug\n#SBATCH -N 4\n#SBATCH -t 60\nsrun true\n",
        "alps_clariden"}},
      {{"#!/bin/bash\n#SBATCH -A project_462000001\n#SBATCH -p dev-g\n#SBATCH --gpus-per-node=8\n#SBATCH "
        "--time=03:00:00\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -A project_462000001\n#SBATCH -p standard-g,small-g\n#SBATCH "
        "--gpus-per-node=8\n#SBATCH --time=3-0\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH --account=x\n#SBATCH -N 100\n#SBATCH --time=03:00:00\nsrun true\n", "frontier"},
       {"#!/bin/bash\n#SBATCH -A project_462000001\n#SBATCH -p dev-g\n#SBATCH --gpus-per-node=8\n#SBATCH "
        "--time=4:0:0\n#SBATCH --time-min=60\nsrun true\n",
        "lumi"}},
      find};
}

} // namespace hpcml::check
