// SPDX-License-Identifier: MIT
// Arrays with more tasks than one user may have in the queue.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_jobs() {
  return {
      .id = "site/jobs",
      .severity = diag::Severity::error,
      .title = "More array tasks than queued jobs allowed",
      .why = "Each task counts as a job: where a partition or a QoS limits how many one user may have queued "
             "and "
             "running, a larger array is refused as a whole.",
      .link = "https://slurm.schedmd.com/resource_limits.html#qos_maxsubmitjobsperuser",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
#SBATCH --array=1-500
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
#SBATCH --array=1-200
srun true
)",
               "lumi"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/jobs"); },
  };
}

} // namespace hpcml::check
