// SPDX-License-Identifier: MIT
// The directive's old name #SLURM.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_prefix {

std::vector<Edit> fix(const LintContext&, diag::Place place) {
  return {{place.offset, place.length, "#SBATCH"}};
}

} // namespace slurm_prefix

Rule rule_slurm_prefix() {
  using namespace slurm_prefix;
  return {"slurm/prefix",
          diag::Severity::warning,
          "#SLURM in place of #SBATCH",
          "sbatch obeys lines that begin with #SLURM and complains about each. No other tool reads them, and "
          "they look like "
          "comments.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {R"(#!/bin/bash
#SLURM --nodes=2
)",
           R"(#!/bin/bash
#SBATCH --nodes=2
#SLURM --time=10
srun true
)",
           R"(#!/bin/bash
#SLURM -N 2
srun true
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
# SLURM settings
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
##SLURM --nodes=2
)"},
          nullptr,
          fix};
}

} // namespace hpcml::check
