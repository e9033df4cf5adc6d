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
  return {
      .id = "site/memory",
      .severity = diag::Severity::error,
      .title = "More memory than a node has for jobs",
      .why =
          "No node can hold the job: memory specification can not be satisfied. What the system needs of a "
          "node is not for jobs.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mem",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=1000G
srun true
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p standard-g
#SBATCH --gpus-per-node=8
#SBATCH --mem=480G
srun true
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
