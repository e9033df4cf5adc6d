// SPDX-License-Identifier: MIT
// A quote in a directive that nothing closes.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_quote() {
  return {"slurm/quote",
          diag::Severity::error,
          "Unclosed quote",
          "sbatch reads quotes in directives as a shell does, but each line for itself: an open one is fatal "
          "and no job is made. An apostrophe in a comment after an option is safe, one in a value is not.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {R"(#!/bin/bash
#SBATCH --job-name="a
)",
           R"(#!/bin/bash
#SBATCH --comment=don't
)",
           R"(#!/bin/bash
#SBATCH --comment='a run
#SBATCH of mine'
srun true
)"},
          {R"(#!/bin/bash
#SBATCH --comment="a run"
)",
           R"(#!/bin/bash
#SBATCH --time=10 # don't
)",
           R"(#!/bin/bash
#SBATCH --comment=don\'t
)"}};
}

} // namespace hpcml::check
