// SPDX-License-Identifier: MIT
// A site that takes no jobs any more.
#include "check/site_rule.hpp"
#include "site/words.hpp"

namespace hpcml::check {
namespace site_retired {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/retired")) {
      const auto why = site::describe_retirement(part.site);
      hits.add({{}, why.what, with_source(why.hint, verdict.origin)});
    }
  return hits;
}

} // namespace site_retired

Rule rule_site_retired() {
  using namespace site_retired;
  return {"site/retired",
          diag::Severity::error,
          "The site is shut down",
          "A retired cluster takes no jobs; its names and directives rarely fit its successor.",
          "https://docs.alliancecan.ca/wiki/Cedar",
          {{"#!/bin/bash\n#SBATCH --time=10\nsrun true\n", "cedar"},
           {"#!/bin/bash\n#SBATCH --time=10\n#SBATCH --account=def-me\nsrun true\n", "graham"},
           {"#!/bin/bash\n#SBATCH -N1\nsrun true\n", "puhti"}},
          {{"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p "
            "small-g\n#SBATCH --gpus-per-node=1\nsrun true\n",
            "lumi"},
           {"#!/bin/bash\n#SBATCH --time=10\n#SBATCH --account=def-me\n#SBATCH --gpus-per-node=h100:1\nsrun "
            "true\n",
            "fir"},
           {"#!/bin/bash\n#SBATCH --time=10\nsrun true\n"}},
          find};
}

} // namespace hpcml::check
