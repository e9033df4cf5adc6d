// SPDX-License-Identifier: MIT
// A least time that is longer than the limit.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_time_min() {
  return {
      .id = "slurm/time-min",
      .severity = diag::Severity::error,
      .title = "--time-min above --time",
      .why = "Slurm may shorten the limit from --time down to --time-min to start the job sooner; the least "
             "cannot be more than the "
             "most, and sbatch refuses it.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_time-min",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10 --time-min=20
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=20 --time-min=10
)"},
  };
}

} // namespace hpcml::check
