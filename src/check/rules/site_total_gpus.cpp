// SPDX-License-Identifier: MIT
// More or fewer GPUs in all than the partition or the QoS gives.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_total_gpus() {
  return {
      .id = "site/total-gpus",
      .severity = diag::Severity::error,
      .title = "Total number of GPUs that the site does not allow",
      .why = "Partitions and QoS have limits on the GPUs of a job; over them it is refused or never starts.",
      .link = "https://slurm.schedmd.com/resource_limits.html",
      .bad = {R"(#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gres=gpu:a100:4
#SBATCH --mem=48G
srun true
)",
              "mila"},
      .good = {R"(#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gres=gpu:a100:2
#SBATCH --mem=48G
srun true
)",
               "mila"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/total-gpus"); },
  };
}

} // namespace hpcml::check
