// SPDX-License-Identifier: MIT
// All memory of a shared node for a part of its GPUs.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace slurm_mem_zero {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject)) {
    const auto place = part.place({"mem"});
    if (place.length == 0 || !site_rules::takes_all_memory(part.fit, part.demand)) continue;
    hits.push_back(
        {place,
         fmt::format("--mem=0 requests all memory of a node that others share, but only {} of its GPUs",
                     part.demand.gpus_per_node),
         "request the memory share of the GPUs, or the whole node with --exclusive"});
  }
  return hits;
}

} // namespace slurm_mem_zero

Rule rule_slurm_mem_zero() {
  using namespace slurm_mem_zero;
  return {
      .id = "slurm/mem-zero",
      .severity = diag::Severity::warning,
      .title = "All memory of a shared node",
      .why = "--mem=0 asks for the whole memory of each node. On nodes that jobs share the job waits until a "
             "node is empty, keeps the "
             "others' GPUs idle, and is often charged for the whole node.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mem",
      .bad = {R"(#!/bin/bash
#SBATCH -p small-g -N1 --gpus-per-node=1 --mem=0
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -p standard-g -N1 --gpus-per-node=8 --mem=0
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
