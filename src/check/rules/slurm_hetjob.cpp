// SPDX-License-Identifier: MIT
// A separator of components that is after an option.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_hetjob() {
  return {"slurm/hetjob",
          diag::Severity::warning,
          "hetjob on a shared line",
          "Only a directive that begins with the word separates components; after an option it is dropped, "
          "and the options of both components become one job's, where the last one wins.",
          "https://slurm.schedmd.com/heterogeneous_jobs.html",
          {R"(#!/bin/bash
#SBATCH --nodes=2 hetjob
)",
           R"(#!/bin/bash
#SBATCH -n1 hetjob -n2
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 packjob
#SBATCH --nodes=1
srun true
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH hetjob
#SBATCH --nodes=1
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 # hetjob
)",
           R"(#!/bin/bash
#SBATCH --job-name=hetjob
)"}};
}

} // namespace hpcml::check
