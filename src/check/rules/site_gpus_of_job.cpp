// SPDX-License-Identifier: MIT
// More or fewer GPUs in all than the partition or the QoS gives.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_gpus_of_job {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/gpus-of-job")) {
      const auto limit = std::to_string(verdict.limit);
      hits.push_back(
          {part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
           count_text(verdict.have, "GPU") + " in all: " +
               (verdict.rule == site::SiteRule::gpus_over ? limit + " are allowed here"
                                                          : "jobs here have " + limit + " or more"),
           with_source({}, verdict.origin),
           {},
           severity_of(verdict)});
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
