// SPDX-License-Identifier: MIT
// Partitions and QoS that one applies for.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_on_request() {
  return {
      .id = "site/on-request",
      .severity = diag::Severity::note,
      .title = "Partition or QoS on request only",
      .why = "A job in a partition that is not open to its account is refused, whatever else it says.",
      .link = "https://slurm.schedmd.com/slurm.conf.html#OPT_AllowAccounts",
      .bad = {R"(#!/bin/bash
#SBATCH --account=g1
#SBATCH -p low
#SBATCH -N1
#SBATCH -t 10
srun true
)",
              "alps_clariden"},
      .good = {R"(#!/bin/bash
#SBATCH --account=g1
#SBATCH -p normal
#SBATCH -N1
#SBATCH -t 10
srun true
)",
               "alps_clariden"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/on-request"); },
  };
}

} // namespace hpcml::check
