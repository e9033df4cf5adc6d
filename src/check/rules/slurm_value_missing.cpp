// SPDX-License-Identifier: MIT
// An option at the end of a directive without the value that it needs.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_value_missing() {
  return {
      .id = "slurm/value-missing",
      .severity = diag::Severity::error,
      .title = "Option without its value",
      .why = "The last option of the directives has no value: sbatch stops with \"option requires an "
             "argument\". Where more directives "
             "follow, the next word is taken as the value, whatever it is.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes 2
)"},
  };
}

} // namespace hpcml::check
