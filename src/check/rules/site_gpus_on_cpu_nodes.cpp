// SPDX-License-Identifier: MIT
// GPUs asked for where no node has any.

#include "check/site_rule.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_gpus_on_cpu_nodes {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpus-on-cpu-nodes")) {
      std::vector<std::string> others;
      for (const auto& partition : part.site.partitions)
        if (!partition.cpu_only && partition.nameable) others.push_back(partition.name);
      hits.push_back(
          {part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
           part.describe(violation),
           cite(fmt::format("use a partition with GPUs: {}", util::join(others, ", ")), violation.origin),
           {},
           severity_of(violation)});
    }
  return hits;
}

} // namespace site_gpus_on_cpu_nodes

Rule rule_site_gpus_on_cpu_nodes() {
  using namespace site_gpus_on_cpu_nodes;
  return {
      .id = "site/gpus-on-cpu-nodes",
      .severity = diag::Severity::error,
      .title = "GPUs in a partition without GPUs",
      .why = "No node there can hold the job: requested node configuration is not available.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_partition",
      .bad = {R"(#!/bin/bash
#SBATCH -p genoa
#SBATCH -t 10
#SBATCH --gpus=1
srun true
)",
              "snellius"},
      .good = {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=1
srun true
)",
               "snellius"},
      .find = find,
  };
}

} // namespace hpcml::check
