// SPDX-License-Identifier: MIT
// Features that the site does not have.
#include "check/site_rule.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace site_constraint {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/constraint")) {
      const auto place = part.place({"constraint"});
      const auto& known = part.site.constraints;
      const auto& name = violation.name;
      if (violation.rule == site_rules::SiteRule::constraint_operator) {
        hits.push_back({place, part.describe(violation), fmt::format("remove the '{}'", name)});
        continue;
      }
      RuleMatch hit{place, part.describe(violation),
                    known.empty() ? std::string() : fmt::format("use one of {}", util::join(known, ", "))};
      if (const auto meant = nearest_typo(name, known)) {
        hit.hint = util::choice_hint(name, known);
        hit.fix = replace_in(subject, place, name, *meant);
      }
      // A profile lists the features of the nodes that it describes.
      if (part.fit.nodes.empty() && hit.fix.empty()) hit.severity = diag::Severity::note;
      hits.push_back(std::move(hit));
    }
  return hits;
}

} // namespace site_constraint

Rule rule_site_constraint() {
  using namespace site_constraint;
  return {
      .id = "site/constraint",
      .severity = diag::Severity::warning,
      .title = "Unknown feature",
      .why = "No node fits such a job: invalid feature specification. Capitals count.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_constraint",
      .bad = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C GPU
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
)",
              "perlmutter"},
      .good = {R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu&hbm80g
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
)",
               "perlmutter"},
      .find = find,
  };
}

} // namespace hpcml::check
