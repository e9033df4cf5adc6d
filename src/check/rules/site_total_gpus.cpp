// SPDX-License-Identifier: MIT
// More or fewer GPUs in all than the partition or the QoS gives.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_total_gpus {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/total-gpus"))
      hits.push_back({part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                      part.describe(violation),
                      cite({}, violation.origin),
                      {},
                      severity_of(violation)});
  return hits;
}

} // namespace site_total_gpus

Rule rule_site_total_gpus() {
  using namespace site_total_gpus;
  return {
      .id = "site/total-gpus",
      .severity = diag::Severity::error,
      .title = "Total number of GPUs that the site does not allow",
      .why = "Partitions and QoS have limits on the GPUs of a job; over them it is refused or never starts.",
      .link = "https://slurm.schedmd.com/resource_limits.html",
      .bad = {R"(#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gres=gpu:a100:4
#SBATCH --mem=48G
srun true
)",
              "mila"},
      .good = {R"(#!/bin/bash
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gres=gpu:a100:2
#SBATCH --mem=48G
srun true
)",
               "mila"},
      .find = find,
  };
}

} // namespace hpcml::check
