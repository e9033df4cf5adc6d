// SPDX-License-Identifier: MIT
// More or fewer GPUs in all than the partition or the QoS gives.
#include "check/site_rule.hpp"
#include "site/limits.hpp"

namespace hpcml::check {
namespace site_gpus_of_job {

Hits find(const Subject& subject) {
  Hits hits;
  using model::Limits;
  for (const auto& part : parts_of(subject)) {
    const auto gpus = part.fit.facts.gpu_count;
    if (part.demand.gpus_per_node == 0 || part.fit.partitions.size() > 1) continue;
    const auto place = part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"});
    if (const auto& most = site::limit_of(part.fit.qos, part.fit.partition(), &Limits::max_gpus);
        most && gpus > most->value)
      hits.push_back(
          {place,
           count_text(gpus, "GPU") + " in all: " + std::to_string(most->value) + " are allowed here",
           with_source({}, most->origin),
           {},
           part.severity()});
    if (const auto& least = site::limit_of(part.fit.qos, part.fit.partition(), &Limits::min_gpus);
        least && gpus < least->value)
      hits.push_back(
          {place,
           count_text(gpus, "GPU") + " in all: jobs here have " + std::to_string(least->value) + " or more",
           with_source({}, least->origin),
           {},
           part.severity()});
  }
  return hits;
}

} // namespace site_gpus_of_job

Rule rule_site_gpus_of_job() {
  using namespace site_gpus_of_job;
  return {"site/gpus-of-job",
          diag::Severity::error,
          "More or fewer GPUs in all than allowed",
          "Partitions and QoS have limits on the GPUs of a job; over them it is refused or never starts.",
          "https://slurm.schedmd.com/resource_limits.html",
          {{"#!/bin/bash\n#SBATCH -p main\n#SBATCH -t 10\n#SBATCH --gres=gpu:a100:4\n#SBATCH --mem=48G\nsrun "
            "true\n",
            "mila"},
           {"#!/bin/bash\n#SBATCH -p unkillable\n#SBATCH -t 10\n#SBATCH --gres=gpu:l40s:2\n#SBATCH "
            "--mem=32G\nsrun true\n",
            "mila"},
           {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH -p gpumedium\n#SBATCH "
            "--gres=gpu:gh200:4\n#SBATCH -N2\nsrun true\n",
            "roihu"}},
          {{"#!/bin/bash\n#SBATCH -p main\n#SBATCH -t 10\n#SBATCH --gres=gpu:a100:2\n#SBATCH --mem=48G\nsrun "
            "true\n",
            "mila"},
           {"#!/bin/bash\n#SBATCH -p main,long\n#SBATCH -t 10\n#SBATCH --gres=gpu:a100:4\n#SBATCH "
            "--mem=48G\nsrun true\n",
            "mila"},
           {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH -p gpumedium\n#SBATCH "
            "--gres=gpu:gh200:4\nsrun true\n",
            "roihu"}},
          find};
}

} // namespace hpcml::check
