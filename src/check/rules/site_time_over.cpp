// SPDX-License-Identifier: MIT
// Time limits over those of the partition or the QoS.
#include <algorithm>

#include "check/site_rule.hpp"
#include "site/limits.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_time_over {

using model::Walltime;

struct Limit {
  Walltime time;
  std::string owner;
  model::Origin origin;
};

/// The longest that any of the job's partitions allows; nothing where one of them has no known limit.
std::optional<Limit> longest(const SitePart& part) {
  const auto& fit = part.fit;
  if (fit.qos && fit.qos->max_time)
    return Limit{fit.qos->max_time->value, "QoS " + fit.qos->name, fit.qos->max_time->origin};
  std::optional<Limit> most;
  for (const auto* partition : fit.partitions) {
    const auto limit = site::time_limit(*partition, part.demand.nodes, fit.facts.gpu_count);
    if (!limit) return std::nullopt;
    if (!most || limit->value > most->time)
      most = Limit{limit->value, partition->nameable ? "partition " + partition->name : part.site.name,
                   limit->origin};
  }
  return most;
}

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
void find_node_time(const SitePart& part, std::uint64_t minutes, Hits& hits) {
  const auto& most = site::limit_of(part.fit.qos, part.fit.partition(), &model::Limits::max_node_minutes);
  if (!most || part.fit.partitions.size() > 1 || minutes * part.demand.nodes <= most->value) return;
  hits.push_back(
      {part.place({"time"}),
       count_text(part.demand.nodes, "node") + " for " + count_text(minutes, "minute") + ": " +
           std::to_string(most->value) + " node minutes are allowed",
       with_source("at most " + count_text(most->value / part.demand.nodes, "minute"), most->origin),
       {},
       part.severity()});
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto time = part.request.times.find("time");
    const auto limit = longest(part);
    // With --time-min Slurm shortens the job until it fits.
    if (time == part.request.times.end() || part.request.has("time-min")) continue;
    const auto minutes = time->second.minutes;
    if (minutes) find_node_time(part, *minutes, hits);
    if (!limit || (minutes && *minutes * 60 <= static_cast<std::uint64_t>(limit->time.seconds().count())))
      continue;
    const auto asked =
        minutes ? Walltime::of(std::chrono::minutes(*minutes)).to_slurm() : std::string("no limit");
    hits.push_back(
        {part.place({"time"}),
         "the time limit " + asked + " is over that of " + limit->owner + ", " + limit->time.to_slurm(),
         with_source(minutes ? long_enough(part, Walltime::of(std::chrono::minutes(*minutes)))
                             : "say how long it may run",
                     limit->origin),
         {},
         part.severity()});
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
