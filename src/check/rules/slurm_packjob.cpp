// SPDX-License-Identifier: MIT
// The old name of hetjob.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_packjob {

std::vector<Edit> fix(const LintContext&, diag::Place place) {
  return {{place.offset, place.length, "hetjob"}};
}

} // namespace slurm_packjob

Rule rule_slurm_packjob() {
  using namespace slurm_packjob;
  return {"slurm/packjob",
          diag::Severity::warning,
          "packjob is the old name of hetjob",
          "Heterogeneous jobs were called pack jobs before Slurm 20.02. sbatch still takes the word, with a "
          "warning, and may stop "
          "to.",
          "https://slurm.schedmd.com/heterogeneous_jobs.html",
          {R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH packjob
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
#SBATCH -n1
#SBATCH PACKJOB
#SBATCH -n2
)",
           R"(#!/bin/bash
#SBATCH -n1
#SBATCH packjob # the rest
#SBATCH -n2
srun true
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH hetjob
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
#SBATCH --job-name=packjob
)",
           R"(#!/bin/bash
#SBATCH --nodes=1
# packjob
srun true
)"},
          nullptr,
          fix};
}

} // namespace hpcml::check
