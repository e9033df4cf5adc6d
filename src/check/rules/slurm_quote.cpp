// SPDX-License-Identifier: MIT
// A quote in a directive that nothing closes.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_quote() {
  return {
      .id = "slurm/quote",
      .severity = diag::Severity::error,
      .title = "Unclosed quote",
      .why =
          "sbatch reads quotes in directives as a shell does, but each line for itself: an open one is fatal "
          "and no job is made. An apostrophe in a comment after an option is safe, one in a value is not.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
#SBATCH --job-name="a
)"},
      .good = {R"(#!/bin/bash
#SBATCH --comment="a run"
)"},
  };
}

} // namespace hpcml::check
