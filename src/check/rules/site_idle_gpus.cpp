// SPDX-License-Identifier: MIT
// Whole nodes for a part of their GPUs.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_idle_gpus() {
  return {
      .id = "site/idle-gpus",
      .severity = diag::Severity::note,
      .title = "Idle GPUs of a whole node",
      .why =
          "Where jobs have whole nodes, all GPUs of a node are charged and no other job can use those that "
          "the job leaves idle.",
      .link = "https://docs.lumi-supercomputer.eu/runjobs/lumi_env/billing/",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=1
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
      .find = [](const LintContext& subject) { return match_violations(subject, "site/idle-gpus"); },
  };
}

} // namespace hpcml::check
