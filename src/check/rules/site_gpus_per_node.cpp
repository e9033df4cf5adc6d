// SPDX-License-Identifier: MIT
// More GPUs of a node than it has.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_gpus_per_node() {
  return {
      .id = "site/gpus-per-node",
      .severity = diag::Severity::error,
      .title = "More GPUs than a node has",
      .why = "No node can hold the job: requested node configuration is not available.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpus-per-node",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=9
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
srun true
)",
               "lumi"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/gpus-per-node"); },
  };
}

} // namespace hpcml::check
