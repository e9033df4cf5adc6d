// SPDX-License-Identifier: MIT
// A script without any command.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_empty() {
  return {
      .id = "slurm/empty",
      .severity = diag::Severity::error,
      .title = "Empty script",
      .why = "sbatch refuses a file that is empty or holds only whitespace, before anything is queued; often "
             "the file was not written to the end, or the name is wrong.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(
)"},
      .good = {R"(#!/bin/bash
)"},
  };
}

} // namespace hpcml::check
