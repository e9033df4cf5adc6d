// SPDX-License-Identifier: MIT
// A shortened option that could be several.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_option_ambiguous() {
  return {"slurm/option-ambiguous",
          diag::Severity::error,
          "Ambiguous option",
          "sbatch takes the beginning of an option's name only where it can be one option. New options of a "
          "new Slurm make short "
          "names ambiguous, and the script is refused from then on.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {R"(#!/bin/bash
#SBATCH --nod=2
)",
           R"(#!/bin/bash
#SBATCH --gpus-per=4
)",
           R"(#!/bin/bash
#SBATCH --mem-p=4G
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=2
)",
           R"(#!/bin/bash
#SBATCH --gpus-per-node=4
)",
           R"(#!/bin/bash
#SBATCH --out=x.log
)"}};
}

} // namespace hpcml::check
