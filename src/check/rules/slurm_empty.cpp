// SPDX-License-Identifier: MIT
// A script without any command.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_empty() {
  return {"slurm/empty",
          diag::Severity::error,
          "Empty script",
          "sbatch refuses a file that is empty or holds only whitespace, before anything is queued; often "
          "the file was not written to the end, or the name is wrong.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
          {"", R"(
)",
           " \n\t\n\n"},
          {R"(#!/bin/bash
)",
           R"(#!/bin/bash
srun true
)",
           R"(#!/bin/sh
#SBATCH --nodes=2
srun hostname
)"}};
}

} // namespace hpcml::check
