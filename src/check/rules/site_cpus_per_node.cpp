// SPDX-License-Identifier: MIT
// More CPUs of a node than it has, or than jobs can have.

#include "check/site_rule.hpp"

#include "core/site_rules/limits.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_cpus_per_node {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/cpus-per-node"))
      hits.push_back({part.place({"cpus-per-task", "ntasks-per-node", "mincpus", "cpus-per-gpu"}),
                      part.describe(violation),
                      cite(fmt::format("use at most {} per node",
                                       util::counted(site_rules::usable_cores(*violation.node), "core")),
                           violation.origin),
                      {},
                      severity_of(violation)});
  return hits;
}

} // namespace site_cpus_per_node

Rule rule_site_cpus_per_node() {
  using namespace site_cpus_per_node;
  return {
      "site/cpus-per-node",
      diag::Severity::error,
      "More CPUs than a node has for jobs",
      "No node can hold the job: requested node configuration is not available. Cores that the site keeps "
      "for the system are not for jobs.",
      "https://slurm.schedmd.com/sbatch.html#OPT_cpus-per-task",
      {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=8
srun true
)",
        "lumi"},
       {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=64
srun true
)",
        "snellius"},
       {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=20
srun true
)",
        "lumi"}},
      {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=7
srun true
)",
        "lumi"},
       {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=16
srun true
)",
        "snellius"},
       {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=14
srun true
)",
        "lumi"}},
      find};
}

} // namespace hpcml::check
