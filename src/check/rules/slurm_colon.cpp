// SPDX-License-Identifier: MIT
// A word of a directive that begins with a colon.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_colon {

/// "#SBATCH: --nodes=2" is a directive with a typo.
std::vector<Edit> fix(const LintContext& subject, diag::TextRange place) {
  const auto line = line_at(subject.text, place.offset);
  const bool behind_magic = subject.text.substr(line.offset, place.offset - line.offset) == "#SBATCH";
  const auto next = subject.text.substr(place.offset + 1, 1);
  if (behind_magic && (next == " " || next == "\t")) return {{place.offset, 1, ""}};
  return {};
}

} // namespace slurm_colon

Rule rule_slurm_colon() {
  using namespace slurm_colon;
  return {
      .id = "slurm/colon",
      .severity = diag::Severity::error,
      .title = "Colon in place of an option",
      .why =
          "A word that begins with ':' separates the components of a heterogeneous job on a command line; in "
          "a directive it is "
          "fatal. \"#SBATCH: --nodes=2\" is the usual way to write one by accident.",
      .link = "https://slurm.schedmd.com/heterogeneous_jobs.html",
      .bad = {R"(#!/bin/bash
#SBATCH: --nodes=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH hetjob
#SBATCH --nodes=1
)"},
      .fix = fix,
  };
}

} // namespace hpcml::check
