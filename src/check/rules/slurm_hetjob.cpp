// SPDX-License-Identifier: MIT
// A separator of components that is after an option.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_hetjob() {
  return {
      .id = "slurm/hetjob",
      .severity = diag::Severity::warning,
      .title = "hetjob on a shared line",
      .why =
          "Only a directive that begins with the word separates components; after an option it is dropped, "
          "and the options of both components become one job's, where the last one wins.",
      .link = "https://slurm.schedmd.com/heterogeneous_jobs.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 hetjob
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
#SBATCH hetjob
#SBATCH --nodes=1
)"},
  };
}

} // namespace hpcml::check
