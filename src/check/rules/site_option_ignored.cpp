// SPDX-License-Identifier: MIT
// Options that the site ignores.
#include "check/site_rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace site_option_ignored {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& part : parts_of(subject))
    for (const auto& violation : part.under("site/option-ignored")) {
      const auto place = part.place({violation.name});
      hits.push_back({place, part.describe(violation),
                      cite(fmt::format("remove --{}", violation.name), violation.origin),
                      remove_option(subject, place)});
    }
  return hits;
}

} // namespace site_option_ignored

Rule rule_site_option_ignored() {
  using namespace site_option_ignored;
  return {"site/option-ignored",
          diag::Severity::note,
          "Option that the site ignores",
          "A line that does nothing makes its readers believe that the job has what it says.",
          "https://slurm.schedmd.com/job_submit_plugins.html",
          {{R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=4
#SBATCH --mem=500G
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH --account=me
#SBATCH -t 60
#SBATCH -p gpumedium
#SBATCH --gres=gpu:gh200:4
#SBATCH --mem=100G
srun true
)",
            "roihu"},
           {R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH -N2 --gpus-per-node=4 --mem=0
srun true
)",
            "trillium"}},
          {{R"(#!/bin/bash
#SBATCH --account=def-me
#SBATCH -t 60
#SBATCH --gpus-per-node=4
srun true
)",
            "trillium"},
           {R"(#!/bin/bash
#SBATCH --account=me
#SBATCH -t 60
#SBATCH -p small
#SBATCH --mem=100G
srun true
)",
            "roihu"},
           {R"(#!/bin/bash
#SBATCH --account=project_462000001
#SBATCH --time=10
#SBATCH -p small-g
#SBATCH --gpus-per-node=1
#SBATCH --mem=60G
srun true
)",
            "lumi"}},
          find};
}

} // namespace hpcml::check
