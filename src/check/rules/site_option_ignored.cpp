// SPDX-License-Identifier: MIT
// Options that the site ignores.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_option_ignored {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/option-ignored")) {
      const auto place = part.place({verdict.name});
      hits.push_back({place,
                      part.site.name + " ignores --" + verdict.name +
                          (verdict.flag->why.empty() ? "" : ": " + verdict.flag->why),
                      with_source("leave it out", verdict.origin), remove_option(subject, place)});
    }
  return hits;
}

} // namespace site_option_ignored

Rule rule_site_option_ignored() {
  using namespace site_option_ignored;
  return {
      "site/option-ignored",
      diag::Severity::note,
      "An option that the site ignores",
      "A line that does nothing makes its readers believe that the job has what it says.",
      "https://slurm.schedmd.com/job_submit_plugins.html",
      {{"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=4\n#SBATCH "
        "--mem=500G\nsrun true\n",
        "trillium"},
       {"#!/bin/bash\n#SBATCH --account=me\n#SBATCH -t 60\n#SBATCH -p gpumedium\n#SBATCH "
        "--gres=gpu:gh200:4\n#SBATCH --mem=100G\nsrun true\n",
        "roihu"},
       {"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH -t 60\n#SBATCH -N2 --gpus-per-node=4 --mem=0\nsrun "
        "true\n",
        "trillium"}},
      {{"#!/bin/bash\n#SBATCH --account=def-me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=4\nsrun true\n",
        "trillium"},
       {"#!/bin/bash\n#SBATCH --account=me\n#SBATCH -t 60\n#SBATCH -p small\n#SBATCH --mem=100G\nsrun true\n",
        "roihu"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\n#SBATCH --mem=60G\nsrun true\n",
        "lumi"}},
      find};
}

} // namespace hpcml::check
