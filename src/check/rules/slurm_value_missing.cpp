// SPDX-License-Identifier: MIT
// An option at the end of a directive without the value that it needs.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_value_missing() {
  return {"slurm/value-missing",
          diag::Severity::error,
          "Option without its value",
          "The last option of the directives has no value: sbatch stops with \"option requires an "
          "argument\". Where more directives "
          "follow, the next word is taken as the value, whatever it is.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {R"(#!/bin/bash
#SBATCH --nodes
)",
           R"(#!/bin/bash
#SBATCH -N 2 -t
)",
           R"(#!/bin/bash
#SBATCH --account # to be filled in
srun true
)"},
          {R"(#!/bin/bash
#SBATCH --nodes 2
)",
           R"(#!/bin/bash
#SBATCH --exclusive
)",
           R"(#!/bin/bash
#SBATCH --requeue
)"}};
}

} // namespace hpcml::check
