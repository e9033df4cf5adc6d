// SPDX-License-Identifier: MIT
// A least time that is longer than the limit.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_time_min() {
  return {"slurm/time-min",
          diag::Severity::error,
          "--time-min above --time",
          "Slurm may shorten the limit from --time down to --time-min to start the job sooner; the least "
          "cannot be more than the "
          "most, and sbatch refuses it.",
          "https://slurm.schedmd.com/sbatch.html#OPT_time-min",
          {R"(#!/bin/bash
#SBATCH --time=10 --time-min=20
)",
           R"(#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --time-min=1-0
)",
           R"(#!/bin/bash
#SBATCH --time=60 --time-min=UNLIMITED
)"},
          {R"(#!/bin/bash
#SBATCH --time=20 --time-min=10
)",
           R"(#!/bin/bash
#SBATCH --time=20 --time-min=20
)",
           R"(#!/bin/bash
#SBATCH --time=UNLIMITED --time-min=1-0
)"}};
}

} // namespace hpcml::check
