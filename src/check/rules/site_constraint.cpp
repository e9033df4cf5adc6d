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
  return {"site/constraint",
          diag::Severity::warning,
          "Unknown feature",
          "No node fits such a job: invalid feature specification. Capitals count.",
          "https://slurm.schedmd.com/sbatch.html#OPT_constraint",
          {{R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C GPU
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
)",
            "perlmutter"},
           {R"(#!/bin/bash
#SBATCH -p long
#SBATCH -t 10
#SBATCH --gres=gpu:1
#SBATCH --constraint=amper
srun true
)",
            "mila"},
           {R"(#!/bin/bash
#SBATCH -A x@h100
#SBATCH -t 10
#SBATCH -p gpu_p6
#SBATCH -C H100
#SBATCH --gres=gpu:1
#SBATCH --hint=nomultithread
srun true
)",
            "jean_zay"},
           {R"(#!/bin/bash
#SBATCH -p long
#SBATCH -t 10
#SBATCH --gres=gpu:1
#SBATCH --constraint=ampere|volta
srun true
)",
            "mila"}},
          {{R"(#!/bin/bash
#SBATCH -A x
#SBATCH -C gpu&hbm80g
#SBATCH -q regular
#SBATCH -t 10
#SBATCH --gpus-per-node=4
srun true
)",
            "perlmutter"},
           {R"(#!/bin/bash
#SBATCH -p long
#SBATCH -t 10
#SBATCH --gres=gpu:1
#SBATCH --constraint=ampere
srun true
)",
            "mila"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH -C whatever
#SBATCH --gpus-per-node=1
srun true
)",
            "lumi"}},
          find};
}

} // namespace hpcml::check
