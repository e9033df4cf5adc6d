// SPDX-License-Identifier: MIT
// A machine without Slurm.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_no_scheduler {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    if (!part.under("site/no-scheduler").empty())
      hits.add({{},
                part.site.name + ": there is no Slurm to submit this script to",
                "start the program with hpcml launch -- CMD"});
  return hits;
}

} // namespace site_no_scheduler

Rule rule_site_no_scheduler() {
  using namespace site_no_scheduler;
  return {"site/no-scheduler",
          diag::Severity::error,
          "No Slurm at the site",
          "A batch script needs sbatch; where there is none the directives are only comments.",
          "https://slurm.schedmd.com/sbatch.html",
          {{"#!/bin/bash\n#SBATCH --time=10\nsrun true\n", "local"},
           {"#!/bin/bash\n#SBATCH -N2\nsrun true\n", "local"},
           {"#!/bin/bash\npython train.py\n", "local"}},
          {{"#!/bin/bash\n#SBATCH --time=10\nsrun true\n", "generic"},
           {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --time=10\nsrun true\n"}},
          find};
}

} // namespace hpcml::check
