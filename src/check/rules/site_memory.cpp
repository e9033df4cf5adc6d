// SPDX-License-Identifier: MIT
// More memory of a node than it has for jobs.

#include "check/site_rule.hpp"

#include "core/model/mem_size.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_memory {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/memory")) {
      const auto limit = model::MemSize::of_mib(violation.limit).to_slurm();
      hits.push_back({part.place({"mem", "mem-per-cpu", "mem-per-gpu"}),
                      part.describe(violation),
                      cite(fmt::format("use at most --mem={}", limit), violation.origin),
                      {},
                      severity_of(violation)});
    }
  return hits;
}

} // namespace site_memory

Rule rule_site_memory() {
  using namespace site_memory;
  return {"site/memory",
          diag::Severity::error,
          "More memory than a node has for jobs",
          "No node can hold the job: memory specification can not be satisfied. What the system needs of a "
          "node is not for jobs.",
          "https://slurm.schedmd.com/sbatch.html#OPT_mem",
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=1000G
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=500G
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=4
#SBATCH --mem-per-gpu=300G
srun true
)",
            "snellius"},
           {R"(#!/bin/bash
#SBATCH -p rome
#SBATCH -t 10
#SBATCH -n1
#SBATCH --cpus-per-task=128
#SBATCH --mem-per-cpu=8G
srun true
)",
            "snellius"}},
          {{R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=480G
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=0
srun true
)",
            "lumi"},
           {R"(#!/bin/bash
#SBATCH -p gpu_h100
#SBATCH -t 10
#SBATCH --gpus-per-node=4
#SBATCH --mem-per-gpu=180G
srun true
)",
            "snellius"}},
          find};
}

} // namespace hpcml::check
