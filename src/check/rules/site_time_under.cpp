// SPDX-License-Identifier: MIT
// Time limits under what the site takes.
#include "check/site_rule.hpp"
#include "site/limits.hpp"

namespace hpcml::check {
namespace site_time_under {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto time = part.request.times.find("time");
    if (time == part.request.times.end() || !time->second.minutes || part.fit.partitions.size() > 1) continue;
    const auto asked = model::Walltime::of(std::chrono::minutes(*time->second.minutes));
    const auto place = part.place({"time"});
    if (const auto& least = site::limit_of(part.fit.qos, part.fit.partition(), &model::Limits::min_time);
        least && asked < least->value)
      hits.push_back({place,
                      "the time limit " + asked.to_slurm() + " is under the least that is taken here, " +
                          least->value.to_slurm(),
                      with_source("ask for " + least->value.to_slurm() + " or more", least->origin),
                      {},
                      part.severity()});
    else if (const auto& usual = part.site.policies.min_time_recommended; usual && asked < usual->value)
      hits.push_back({place,
                      part.site.name + " recommends jobs of " + usual->value.to_slurm() + " or more",
                      with_source({}, usual->origin),
                      {},
                      diag::Severity::note});
  }
  return hits;
}

} // namespace site_time_under

Rule rule_site_time_under() {
  using namespace site_time_under;
  return {
      "site/time-under",
      diag::Severity::error,
      "Less time than the site takes",
      "Sites that want few short jobs refuse those below a least time.",
      "https://docs.alliancecan.ca/wiki/Trillium_Quickstart",
      {{"#!/bin/bash\n#SBATCH -A me\n#SBATCH --gpus-per-node=4\n#SBATCH -t 5\nsrun true\n", "trillium"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH --gpus-per-node=1\n#SBATCH -t 00:10:00\nsrun true\n",
        "trillium"},
       {"#!/bin/bash\n#SBATCH -A def-me\n#SBATCH --gpus-per-node=h100:1\n#SBATCH -t 30\nsrun true\n", "fir"}},
      {{"#!/bin/bash\n#SBATCH -A me\n#SBATCH --gpus-per-node=4\n#SBATCH -t 15\nsrun true\n", "trillium"},
       {"#!/bin/bash\n#SBATCH -A def-me\n#SBATCH --gpus-per-node=h100:1\n#SBATCH -t 60\nsrun true\n", "fir"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH --gpus-per-node=4\n#SBATCH -p debug\n#SBATCH -t 5\nsrun true\n",
        "trillium"}},
      find};
}

} // namespace hpcml::check
