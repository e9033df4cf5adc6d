// SPDX-License-Identifier: MIT
// More memory of a node than it has for jobs.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_memory() {
  return {
      .id = "site/memory",
      .severity = diag::Severity::error,
      .title = "More memory than a node has for jobs",
      .why =
          "No node can hold the job: memory specification can not be satisfied. What the system needs of a "
          "node is not for jobs.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mem",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=1000G
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=480G
srun true
)",
               "lumi"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/memory"); },
  };
}

} // namespace hpcml::check
