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
  return {
      .id = "slurm/prefix",
      .severity = diag::Severity::warning,
      .title = "#SLURM in place of #SBATCH",
      .why =
          "sbatch obeys lines that begin with #SLURM and complains about each. No other tool reads them, and "
          "they look like "
          "comments.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
#SLURM --nodes=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
