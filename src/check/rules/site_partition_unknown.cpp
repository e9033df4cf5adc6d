// SPDX-License-Identifier: MIT
// Partitions that the site does not have.
#include <algorithm>
#include <fmt/format.h>

#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_partition_unknown {

/// True if the profile has only partitions with GPUs, so that the site may have others.
bool describes_gpu_nodes_only(const model::Site& site) {
  return site.other_partitions.empty() &&
         std::all_of(site.partitions.begin(), site.partitions.end(), [&](const model::Partition& partition) {
           return std::all_of(partition.node_types.begin(), partition.node_types.end(), [&](const auto& id) {
             const auto* node = site.find_node_type(id);
             return node && node->gpu;
           });
         });
}

std::string hint_for(const model::Site& site, const std::string& name) {
  const auto names = partition_names(site);
  return describes_gpu_nodes_only(site) && !names.empty()
             ? fmt::format("check the name: the profile has only partitions with GPUs ({})",
                           util::join(names, ", "))
             : util::choice_hint(name, names);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/partition-unknown")) {
      if (violation.rule == site_rules::SiteRule::partition_not_described) continue;
      const auto& name = violation.name;
      const auto names = partition_names(part.site);
      const auto meant = nearest_typo(name, names);
      if (!meant && violation.certainty == site_rules::Confidence::advisory)
        continue; // it can be a group's own
      const auto place = part.place({"partition"});
      RuleMatch hit{place, part.describe(violation), hint_for(part.site, name)};
      // Profiles omit partitions that are not for everybody; a typo of one of theirs hardly is one of those.
      if (meant) {
        hit.severity = diag::Severity::warning;
        hit.hint = fmt::format("use --partition={}", *meant);
        hit.fix = replace_in(subject, place, name, *meant);
      }
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_partition_unknown

Rule rule_site_partition_unknown() {
  using namespace site_partition_unknown;
  return {
      .id = "site/partition-unknown",
      .severity = diag::Severity::note,
      .title = "Unknown partition",
      .why =
          "sbatch refuses a job for a partition that does not exist: invalid partition specified. A note, as "
          "sites have partitions for some users only, of which their documents and so the profiles say "
          "nothing; a warning where the name looks like a typo of one that the profile has.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_partition",
      .bad = {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH --partition=standrad-g
#SBATCH --gpus-per-node=8
srun true
)",
              "lumi"},
      .good = k_lumi_job,
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
