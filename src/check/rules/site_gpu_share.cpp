// SPDX-License-Identifier: MIT
// CPUs and memory that do not go with the number of GPUs.

#include "check/site_rule.hpp"
#include "core/model/mem_size.hpp"

namespace hpcml::check {
namespace site_gpu_share {

using site_rules::SiteRule;

RuleMatch hit_of_cpus(const ComponentAtSite& part, const site_rules::PolicyViolation& violation) {
  const auto what = util::counted(violation.have, "CPU") + " for " +
                    util::counted(part.demand.gpus_per_node, "GPU") + ": a GPU here has a share of " +
                    util::counted(*violation.node->cpus_per_gpu, "core");
  return {part.place({"cpus-per-task", "cpus-per-gpu", "ntasks-per-node", "ntasks"}),
          what + (violation.rule == SiteRule::cpus_many ? "; more may wait longer or block GPUs for others"
                  : violation.rule == SiteRule::cpus_few
                      ? "; with so few the loaders of data may keep the GPUs waiting"
                      : ""),
          append_citation(util::counted(violation.limit, "core") + " go with them", violation.origin),
          {},
          severity_of(violation)};
}

RuleMatch hit_of_memory(const ComponentAtSite& part, const site_rules::PolicyViolation& violation) {
  return {
      part.place({"mem"}),
      model::MemSize::of_mib(violation.have).to_slurm() + " for " +
          util::counted(part.demand.gpus_per_node, "GPU") + ": a GPU here has a share of " +
          violation.node->mem_per_gpu->to_slurm() +
          (violation.rule == SiteRule::memory_many ? "; more may wait longer or block GPUs for others" : ""),
      append_citation("use --mem=" + model::MemSize::of_mib(violation.limit).to_slurm() + ", or leave it out",
                      violation.origin),
      {},
      severity_of(violation)};
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpu-share"))
      hits.push_back(violation.rule == SiteRule::memory_share || violation.rule == SiteRule::memory_many
                         ? hit_of_memory(part, violation)
                         : hit_of_cpus(part, violation));
  return hits;
}

} // namespace site_gpu_share

Rule rule_site_gpu_share() {
  using namespace site_gpu_share;
  return {"site/gpu-share",
          diag::Severity::warning,
          "CPUs and memory out of proportion to the GPUs",
          "On shared nodes each GPU has its part of the cores and the memory: who takes more leaves GPUs "
          "that nobody can use, waits longer or is refused; who takes far less starves the GPUs.",
          "https://docs.alliancecan.ca/wiki/Allocations_and_compute_scheduling",
          {{R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=48
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=64
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=1
#SBATCH --mem=720G
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --ntasks=4 --nodes=2 --gpus-per-node=2
#SBATCH --cpus-per-task=4
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=4
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=2
srun true
)",
            "snellius"}},
          {{R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=24
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --ntasks=16 --nodes=4 --gpus-per-node=4
#SBATCH --cpus-per-task=16
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=16
#SBATCH --mem=180G
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
#SBATCH --cpus-per-task=7
#SBATCH --mem=60G
srun true
)",
            "lumi"}},
          find};
}

} // namespace hpcml::check
