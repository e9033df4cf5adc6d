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
  return {"site/gpus-on-cpu-nodes",
          diag::Severity::error,
          "GPUs in a partition without GPUs",
          "No node there can hold the job: requested node configuration is not available.",
          "https://slurm.schedmd.com/sbatch.html#OPT_partition",
          {{R"(#!/bin/bash
#SBATCH -p genoa
#SBATCH -t 10
#SBATCH --gpus=1
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p rome
#SBATCH -t 10
#SBATCH --gres=gpu:1
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -p main
#SBATCH -t 10
#SBATCH --gpus-per-node=8
srun true
)",
            "dardel"}},
          {{R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus=1
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p genoa
#SBATCH -t 10
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -p gpu
#SBATCH -t 10
#SBATCH --gpus-per-node=8
srun true
)",
            "dardel"}},
          find};
}

} // namespace hpcml::check
