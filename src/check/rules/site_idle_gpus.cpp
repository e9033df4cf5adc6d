// SPDX-License-Identifier: MIT
// Whole nodes for a part of their GPUs.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_idle_gpus {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/idle-gpus"))
      hits.push_back(
          {part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task"}), part.describe(violation),
           cite(fmt::format("request all {} GPUs, or use a partition that shares nodes", violation.limit),
                violation.origin)});
  return hits;
}

} // namespace site_idle_gpus

Rule rule_site_idle_gpus() {
  using namespace site_idle_gpus;
  return {"site/idle-gpus",
          diag::Severity::note,
          "Idle GPUs of a whole node",
          "Where jobs have whole nodes, all GPUs of a node are charged and no other job can use those that "
          "the job leaves idle.",
          "https://docs.lumi-supercomputer.eu/runjobs/lumi_env/billing/",
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=1
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH -N2
#SBATCH --gpus-per-node=4
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --exclusive
#SBATCH --gpus-per-node=2
srun true
)",
            "lumi"}},
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH --time=10
#SBATCH -p batch
#SBATCH -N 20
#SBATCH --ntasks-per-node=8
#SBATCH --gpus-per-task=1
srun true
)",
            "frontier"},
           k_lumi_job,
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --exclusive
#SBATCH --gpus-per-node=8
srun true
)",
            "lumi"}},
          find};
}

} // namespace hpcml::check
