// SPDX-License-Identifier: MIT
// Types of GPU that the site does not have.
#include <algorithm>
#include <fmt/format.h>

#include "check/site_rule.hpp"
#include "core/site_rules/gpu_names.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_gpu_type {

/// The names that it has, or what its GPUs are where the profile does not know all of them.
std::string known_types(const ComponentAtSite& part) {
  const auto types = site_rules::gpu_type_names(part.fit.nodes);
  if (!types.empty()) return fmt::format("use one of the types {}", util::join(types, ", "));
  const auto models = site_rules::gpu_models(part.fit.nodes);
  return models.empty() ? "" : fmt::format("check the type: the GPUs are {}", util::join(models, ", "));
}

/// Another type than the site has; one in other capitals is fixed.
RuleMatch wrong_type(const LintContext& subject, const ComponentAtSite& part,
                     const site_rules::PolicyViolation& violation) {
  const auto types = site_rules::gpu_type_names(part.fit.nodes);
  const auto& wanted = violation.name;
  RuleMatch hit{part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                part.describe(violation), cite(known_types(part), violation.origin)};
  const auto same = std::find_if(types.begin(), types.end(), [&](const auto& type) {
    return util::to_lower(type) == util::to_lower(wanted);
  });
  if (same == types.end()) return hit;
  hit.severity = part.severity();
  hit.hint = fmt::format("use '{}': type names are case-sensitive", *same);
  hit.fix = replace_in(subject, hit.place, ":" + wanted, ":" + *same);
  if (hit.fix.empty()) hit.fix = replace_in(subject, hit.place, wanted, *same);
  return hit;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/gpu-type")) {
      if (violation.rule == site_rules::SiteRule::type_unknown) {
        hits.push_back(wrong_type(subject, part, violation));
        continue;
      }
      hits.push_back({part.place({"gres", "gpus-per-node", "gpus", "gpus-per-task", "tres-per-task"}),
                      part.describe(violation),
                      cite(known_types(part), violation.origin),
                      {},
                      severity_of(violation)});
    }
  return hits;
}

} // namespace site_gpu_type

Rule rule_site_gpu_type() {
  using namespace site_gpu_type;
  return {
      .id = "site/gpu-type",
      .severity = diag::Severity::warning,
      .title = "Unknown or missing GPU type",
      .why = "Slurm takes only the names of the site's configuration, with their capitals: invalid generic "
             "resource (gres) specification. Where there are several types, a job that names none gets any.",
      .link = "https://slurm.schedmd.com/gres.conf.html#OPT_Type",
      .bad = {R"(#!/bin/bash
#SBATCH -A naiss2024-1-1
#SBATCH -p alvis
#SBATCH -t 10
#SBATCH --gpus-per-node=a100:4
srun true
)",
              "alvis"},
      .good = {R"(#!/bin/bash
#SBATCH -A naiss2024-1-1
#SBATCH -p alvis
#SBATCH -t 10
#SBATCH --gpus-per-node=A100:4
srun true
)",
               "alvis"},
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
