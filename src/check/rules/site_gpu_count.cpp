// SPDX-License-Identifier: MIT
// Numbers of GPUs that the site does not give.
#include "check/site_rule.hpp"

#include "core/site_rules/site_text.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_gpu_count {

using site_rules::SiteRule;

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpu-count"))
      hits.push_back({part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                      part.describe(violation),
                      cite(violation.rule == SiteRule::gpus_whole_nodes
                               ? fmt::format("use --gpus-per-node={}", violation.limit)
                               : std::string(),
                           violation.origin),
                      {},
                      severity_of(violation)});
  return hits;
}

} // namespace site_gpu_count

Rule rule_site_gpu_count() {
  using namespace site_gpu_count;
  return {
      .id = "site/gpu-count",
      .severity = diag::Severity::error,
      .title = "Number of GPUs that the site does not allow",
      .why = "Sites that give whole nodes or fixed parts of them refuse other numbers of GPUs.",
      .link = "https://docs.alliancecan.ca/wiki/Trillium_Quickstart",
      .bad = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=2
srun true
)",
              "trillium"},
      .good = {R"(#!/bin/bash
#SBATCH -A me
#SBATCH -t 60
#SBATCH --gpus-per-node=1
srun true
)",
               "trillium"},
      .find = find,
  };
}

} // namespace hpcml::check
