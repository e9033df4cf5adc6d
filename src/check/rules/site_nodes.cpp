// SPDX-License-Identifier: MIT
// Numbers of nodes that the partition, the QoS or the site does not give.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_nodes() {
  return {
      .id = "site/nodes",
      .severity = diag::Severity::error,
      .title = "Number of nodes that the site does not allow",
      .why = "A job for more nodes than its partition allows is refused, or waits for ever with the reason "
             "PartitionNodeLimit.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_MaxNodes",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
#SBATCH -N5
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=8
#SBATCH -N4
srun true
)",
               "lumi"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/nodes"); },
  };
}

} // namespace hpcml::check
