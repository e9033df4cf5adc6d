// SPDX-License-Identifier: MIT
// CPUs and memory that do not go with the number of GPUs.

#include "check/site_rule.hpp"

#include "core/model/mem_size.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_gpu_share {

using site_rules::SiteRule;

/// The share that goes with the GPUs.
std::string hint_for(const site_rules::PolicyViolation& violation) {
  if (violation.rule == SiteRule::memory_share || violation.rule == SiteRule::memory_many)
    return fmt::format("use --mem={}, or remove --mem", model::MemSize::of_mib(violation.limit).to_slurm());
  return fmt::format("use {}, the share of these GPUs", util::counted(violation.limit, "core"));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpu-share")) {
      const bool memory = violation.rule == SiteRule::memory_share || violation.rule == SiteRule::memory_many;
      const auto place = memory ? part.place({"mem"})
                                : part.place({"cpus-per-task", "cpus-per-gpu", "ntasks-per-node", "ntasks"});
      hits.push_back({place,
                      part.describe(violation),
                      cite(hint_for(violation), violation.origin),
                      {},
                      severity_of(violation)});
    }
  return hits;
}

} // namespace site_gpu_share

Rule rule_site_gpu_share() {
  using namespace site_gpu_share;
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
      .find = find,
  };
}

} // namespace hpcml::check
