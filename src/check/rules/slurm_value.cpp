// SPDX-License-Identifier: MIT
// A value that sbatch does not take for its option.
#include "check/rule.hpp"
#include "check/value_fix.hpp"

namespace hpcml::check {
namespace slurm_value {

std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) { return fix_value(subject, place); }

} // namespace slurm_value

Rule rule_slurm_value() {
  using namespace slurm_value;
  return {
      .id = "slurm/value",
      .severity = diag::Severity::error,
      .title = "Invalid value",
      .why = "sbatch reads most values itself and stops at one that it does not understand: \"Invalid node "
             "count\", \"Invalid numeric value\". A '=' after a short option (-N=2) is part of its value.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH -N=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N 2
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
