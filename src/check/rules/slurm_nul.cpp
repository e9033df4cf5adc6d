// SPDX-License-Identifier: MIT
// A NUL character in the script, as text of another encoding has it.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_nul() {
  return {
      .id = "slurm/nul",
      .severity = diag::Severity::error,
      .title = "NUL character in the script",
      .why = "sbatch refuses a script with a NUL byte. A text saved as UTF-16 has one in every second place, "
             "and so has a binary that "
             "was given instead of a script.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {"#!/bin/bash\necho a\0b\n"},
      .good = {R"(#!/bin/bash
printf 'a\0b'
)"},
  };
}

} // namespace hpcml::check
