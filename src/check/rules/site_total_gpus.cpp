// SPDX-License-Identifier: MIT
// More or fewer GPUs in all than the partition or the QoS gives.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_total_gpus {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/total-gpus"))
      hits.push_back({part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                      part.describe(violation),
                      cite({}, violation.origin),
                      {},
                      severity_of(violation)});
  return hits;
}

} // namespace site_total_gpus

Rule rule_site_total_gpus() {
  using namespace site_total_gpus;
  return {"site/total-gpus",
          diag::Severity::error,
          "Total number of GPUs that the site does not allow",
          "Partitions and QoS have limits on the GPUs of a job; over them it is refused or never starts.",
          "https://slurm.schedmd.com/resource_limits.html",
          {{R"(#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gres=gpu:a100:4
#SBATCH --mem=48G
srun true
)",
            "mila"},
           {R"(#!/bin/bash
#SBATCH -p unkillable
#SBATCH -t 10
#SBATCH --gres=gpu:l40s:2
#SBATCH --mem=32G
srun true
)",
            "mila"},
           {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH -p gpumedium
#SBATCH --gres=gpu:gh200:4
#SBATCH -N2
srun true
)",
            "roihu"}},
          {{R"(#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gres=gpu:a100:2
#SBATCH --mem=48G
srun true
)",
            "mila"},
           {R"(#!/bin/bash
#SBATCH -p main,long
#SBATCH -t 10
#SBATCH --gres=gpu:a100:4
#SBATCH --mem=48G
srun true
)",
            "mila"},
           {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH -p gpumedium
#SBATCH --gres=gpu:gh200:4
srun true
)",
            "roihu"}},
          find};
}

} // namespace hpcml::check
