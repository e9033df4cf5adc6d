// SPDX-License-Identifier: MIT
// A value that sbatch does not take for its option.
#include "check/rule.hpp"
#include "check/value_fix.hpp"

namespace hpcml::check {
namespace slurm_value {

std::vector<Edit> fix(const LintContext& subject, diag::Place place) { return fix_value(subject, place); }

} // namespace slurm_value

Rule rule_slurm_value() {
  using namespace slurm_value;
  return {"slurm/value",
          diag::Severity::error,
          "Invalid value",
          "sbatch reads most values itself and stops at one that it does not understand: \"Invalid node "
          "count\", \"Invalid numeric value\". A '=' after a short option (-N=2) is part of its value.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {R"(#!/bin/bash
#SBATCH -N=2
)",
           R"(#!/bin/bash
#SBATCH --nodes = 2
)",
           R"(#!/bin/bash
#SBATCH --nodes=two
)",
           R"(#!/bin/bash
#SBATCH -ntasks=8
)",
           R"(#!/bin/bash
#SBATCH --ntasks=8;
)",
           R"(#!/bin/bash
#SBATCH --mail-type=ALWAYS
)"},
          {R"(#!/bin/bash
#SBATCH -N 2
)",
           R"(#!/bin/bash
#SBATCH --nodes=2-4
)",
           R"(#!/bin/bash
#SBATCH --ntasks=8
#SBATCH --mail-type=END,FAIL
)"},
          nullptr,
          fix};
}

} // namespace hpcml::check
