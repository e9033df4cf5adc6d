// SPDX-License-Identifier: MIT
// Partitions that jobs may not name.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_partition_named {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    const auto place = part.place({"partition"});
    if (part.demand.partitions.empty()) continue;
    const auto& rule = part.flag("partition");
    if (rule.policy == model::Policy::forbidden) {
      hits.push_back(
          {place,
           part.site.name + " does not let jobs name a partition" + (rule.why.empty() ? "" : ": " + rule.why),
           with_source("leave --partition out", rule.origin), remove_option(subject, place)});
      continue;
    }
    if (rule.policy == model::Policy::discouraged)
      hits.push_back(
          {place,
           part.site.name + " asks jobs to name no partition" + (rule.why.empty() ? "" : ": " + rule.why),
           with_source("leave --partition out", rule.origin),
           {},
           diag::Severity::warning});
    for (const auto& name : part.demand.partitions)
      if (const auto* partition = part.site.find_partition(name); partition && !partition->nameable)
        hits.push_back(
            {place,
             "partition '" + name + "' of " + part.site.name + " is chosen by Slurm and may not be named",
             with_source("leave --partition out", partition->origin),
             part.demand.partitions.size() == 1 ? remove_option(subject, place) : std::vector<Edit>()});
  }
  return hits;
}

} // namespace site_partition_named

Rule rule_site_partition_named() {
  using namespace site_partition_named;
  return {"site/partition-named",
          diag::Severity::error,
          "A partition named where the site chooses",
          "Some sites choose the partition by what a job asks for: they refuse jobs that name one, or ask to "
          "leave that to the scheduler.",
          "https://docs.alliancecan.ca/wiki/Job_scheduling_policies",
          {{"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH --time=10\n#SBATCH "
            "--partition=gpubase_bygpu_b1\n#SBATCH --gpus-per-node=h100:1\nsrun true\n",
            "fir"},
           {"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH --time=1:0:0\n#SBATCH -p compute\n#SBATCH "
            "--gpus-per-node=4\nsrun true\n",
            "trillium"},
           {"#!/bin/bash\n#SBATCH --account=aip-me\n#SBATCH --time=1:0:0 -p gpu\n#SBATCH --gpus=h100:4\nsrun "
            "true\n",
            "tamia"}},
          {{"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH --time=1:0:0\n#SBATCH "
            "--gpus-per-node=h100:1\nsrun true\n",
            "fir"},
           {"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH --time=1:0:0\n#SBATCH -p debug\n#SBATCH "
            "--gpus-per-node=4\nsrun true\n",
            "trillium"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"}},
          find,
          nullptr,
          k_likely_refusal};
}

} // namespace hpcml::check
