// SPDX-License-Identifier: MIT
// Numbers of GPUs that the site does not give.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_gpu_count() {
  return {
      .id = "site/gpu-count",
      .severity = diag::Severity::error,
      .title = "Number of GPUs that the site does not allow",
      .why = "Sites that give whole nodes or fixed parts of them refuse other numbers of GPUs.",
      .link = "https://docs.alliancecan.ca/wiki/Trillium_Quickstart",
      .bad = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=2
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
srun true
)",
               "trillium"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/gpu-count"); },
  };
}

} // namespace hpcml::check
