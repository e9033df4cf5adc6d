// SPDX-License-Identifier: MIT
// More CPUs of a node than it has, or than jobs can have.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_cpus_per_node() {
  return {
      .id = "site/cpus-per-node",
      .severity = diag::Severity::error,
      .title = "More CPUs than a node has for jobs",
      .why = "No node can hold the job: requested node configuration is not available. Cores that the site "
             "keeps "
             "for the system are not for jobs.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_cpus-per-task",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=8
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=7
srun true
)",
               "lumi"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/cpus-per-node"); },
  };
}

} // namespace hpcml::check
