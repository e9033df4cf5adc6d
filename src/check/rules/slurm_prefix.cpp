// SPDX-License-Identifier: MIT
// The directive's old name #SLURM.
#include "check/rule.hpp"

#include <fmt/format.h>

namespace hpcml::check {
namespace slurm_prefix {

std::vector<Edit> fix(const LintContext&, diag::TextRange place) {
  return {{place.offset, place.length, "#SBATCH"}};
}

/// True if the word right after the prefix is refused: "#SLURM_JOB=x" is a comment to its author.
bool is_before_word(const FindingPair& pair) {
  return pair.stronger.place.offset == pair.own.place.offset + pair.own.place.length;
}

void explain(const Finding&, Finding& operand) {
  operand.what.message =
      fmt::format("sbatch reads what begins with #SLURM as a directive: {}", operand.what.message);
  operand.what.hint = "add a space after the # of a comment, or use #SBATCH for a directive";
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
      .yields_to = {{"slurm/unexpected-argument", is_before_word, explain}},
  };
}

} // namespace hpcml::check
