// SPDX-License-Identifier: MIT
// GPUs asked for where no node has any.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_gpus_on_cpu_nodes() {
  return {
      .id = "site/gpus-on-cpu-nodes",
      .severity = diag::Severity::error,
      .title = "GPUs in a partition without GPUs",
      .why = "No node there can hold the job: requested node configuration is not available.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_partition",
      .bad = {R"(#!/bin/bash
#SBATCH -p genoa
#SBATCH -t 10
#SBATCH --gpus=1
srun true
)",
              "snellius"},
      .good = {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=1
srun true
)",
               "snellius"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/gpus-on-cpu-nodes"); },
  };
}

} // namespace hpcml::check
