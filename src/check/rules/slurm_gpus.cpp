// SPDX-License-Identifier: MIT
// Numbers of GPUs, nodes and tasks that do not fit each other.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_gpus() {
  return {
      .id = "slurm/gpus",
      .severity = diag::Severity::error,
      .title = "Contradicting numbers of GPUs",
      .why =
          "The GPUs of the job, of a node and of a task determine how many nodes and tasks there are. Where "
          "--nodes or --ntasks contradict them, or one is not a multiple of the other, the job is refused.",
      .link = "https://slurm.schedmd.com/gres.html",
      .bad = {R"(#!/bin/bash
#SBATCH --gpus=6 --gpus-per-node=4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --gpus=8 --gpus-per-node=4
)"},
  };
}

} // namespace hpcml::check
