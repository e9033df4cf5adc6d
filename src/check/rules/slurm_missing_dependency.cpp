// SPDX-License-Identifier: MIT
// An option that has no meaning without another.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_missing_dependency() {
  return {
      .id = "slurm/missing-dependency",
      .severity = diag::Severity::error,
      .title = "Option that needs another",
      .why = "--gpus-per-task needs a number of tasks, nodes or GPUs, --cpus-per-gpu and --mem-per-gpu need "
             "GPUs, --gpus-per-socket "
             "needs sockets: without them sbatch refuses the job.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_gpus-per-task",
      .bad = {R"(#!/bin/bash
#SBATCH --gpus-per-task=1
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=4 --gpus-per-task=1
)"},
  };
}

} // namespace hpcml::check
