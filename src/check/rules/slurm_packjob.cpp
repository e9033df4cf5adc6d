// SPDX-License-Identifier: MIT
// The old name of hetjob.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_packjob {

std::vector<Edit> fix(const LintContext&, diag::TextRange place) {
  return {{place.offset, place.length, "hetjob"}};
}

} // namespace slurm_packjob

Rule rule_slurm_packjob() {
  using namespace slurm_packjob;
  return {
      .id = "slurm/packjob",
      .severity = diag::Severity::warning,
      .title = "packjob is the old name of hetjob",
      .why =
          "Heterogeneous jobs were called pack jobs before Slurm 20.02. sbatch still takes the word, with a "
          "warning, and may stop "
          "to.",
      .link = "https://slurm.schedmd.com/heterogeneous_jobs.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH packjob
#SBATCH --nodes=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH hetjob
#SBATCH --nodes=2
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
