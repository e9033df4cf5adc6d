// SPDX-License-Identifier: MIT
// A shortened option that could be several.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_option_ambiguous() {
  return {
      .id = "slurm/option-ambiguous",
      .severity = diag::Severity::error,
      .title = "Ambiguous option",
      .why =
          "sbatch takes the beginning of an option's name only where it can be one option. New options of a "
          "new Slurm make short "
          "names ambiguous, and the script is refused from then on.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --nod=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
)"},
  };
}

} // namespace hpcml::check
