// SPDX-License-Identifier: MIT
// CPUs and memory that do not go with the number of GPUs.
#include "check/site_rule.hpp"

namespace hpcml::check {

Rule rule_site_gpu_share() {
  return {
      .id = "site/gpu-share",
      .severity = diag::Severity::warning,
      .title = "CPUs and memory out of proportion to the GPUs",
      .why =
          "On shared nodes each GPU has its share of the cores and the memory: a job that takes more leaves "
          "GPUs "
          "that no other job can use, waits longer or is refused; one that takes far less starves the GPUs.",
      .link = "https://docs.alliancecan.ca/wiki/Allocations_and_compute_scheduling",
      .bad = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=48
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=24
srun true
)",
               "trillium"},
      .find = [](const LintContext& subject) { return match_violations(subject, "site/gpu-share"); },
  };
}

} // namespace hpcml::check
