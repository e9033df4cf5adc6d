// SPDX-License-Identifier: MIT
// Features that the site does not have.
#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_constraint {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/constraint")) {
      const auto place = part.place({"constraint"});
      const auto& known = part.site.constraints;
      const auto& name = verdict.name;
      if (verdict.rule == site::SiteRule::feature_sign) {
        hits.push_back({place,
                        "the profile of " + part.site.name + " joins features only with " +
                            util::join(part.site.constraint_operators, " and "),
                        "write it without " + name});
        continue;
      }
      Hit hit{place, "the profile of " + part.site.name + " knows no feature '" + name + "'",
              known.empty() ? std::string() : "it knows " + util::join(known, ", ")};
      if (const auto meant = slip_of(name, known)) {
        hit.hint = known_names(name, known);
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
          "A feature that no node has",
          "No node fits such a job: invalid feature specification. Capitals count.",
          "https://slurm.schedmd.com/sbatch.html#OPT_constraint",
          {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -C GPU\n#SBATCH -q regular\n#SBATCH -t 10\n#SBATCH "
            "--gpus-per-node=4\nsrun true\n",
            "perlmutter"},
           {"#!/bin/bash\n#SBATCH -p long\n#SBATCH -t 10\n#SBATCH --gres=gpu:1\n#SBATCH "
            "--constraint=amper\nsrun true\n",
            "mila"},
           {"#!/bin/bash\n#SBATCH -A x@h100\n#SBATCH -t 10\n#SBATCH -p gpu_p6\n#SBATCH -C H100\n#SBATCH "
            "--gres=gpu:1\n#SBATCH --hint=nomultithread\nsrun true\n",
            "jean_zay"},
           {"#!/bin/bash\n#SBATCH -p long\n#SBATCH -t 10\n#SBATCH --gres=gpu:1\n#SBATCH "
            "--constraint=ampere|volta\nsrun true\n",
            "mila"}},
          {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -C gpu&hbm80g\n#SBATCH -q regular\n#SBATCH -t 10\n#SBATCH "
            "--gpus-per-node=4\nsrun true\n",
            "perlmutter"},
           {"#!/bin/bash\n#SBATCH -p long\n#SBATCH -t 10\n#SBATCH --gres=gpu:1\n#SBATCH "
            "--constraint=ampere\nsrun true\n",
            "mila"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH -C whatever\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"}},
          find};
}

} // namespace hpcml::check
