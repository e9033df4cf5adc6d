// SPDX-License-Identifier: MIT
// Time limits over those of the partition or the QoS.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_time_limit_exceeded() {
  return {
      .id = "site/time-limit-exceeded",
      .severity = diag::Severity::error,
      .title = "Time limit above the maximum of the site",
      .why = "A job over the limit of its partition is refused, or waits for ever with the reason "
             "PartitionTimeLimit.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_EnforcePartLimits",
      .bad = {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=04:00:00
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -A project_462000001
#SBATCH -p dev-g
#SBATCH --gpus-per-node=8
#SBATCH --time=03:00:00
srun true
)",
               "lumi"},
      .find =
          [](const LintContext& subject) { return match_violations(subject, "site/time-limit-exceeded"); },
  };
}

} // namespace hpcml::check
