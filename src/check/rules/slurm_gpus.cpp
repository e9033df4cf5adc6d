// SPDX-License-Identifier: MIT
// Numbers of GPUs, nodes and tasks that do not fit each other.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_gpus() {
  return {"slurm/gpus",
          diag::Severity::error,
          "Contradicting numbers of GPUs",
          "The GPUs of the job, of a node and of a task determine how many nodes and tasks there are. Where "
          "--nodes or --ntasks contradict them, or one is not a multiple of the other, the job is refused.",
          "https://slurm.schedmd.com/gres.html",
          {R"(#!/bin/bash
#SBATCH --gpus=6 --gpus-per-node=4
)",
           R"(#!/bin/bash
#SBATCH --nodes=3 --gpus=8 --gpus-per-node=4
)",
           R"(#!/bin/bash
#SBATCH --nodes=4 --gpus=2
)",
           R"(#!/bin/bash
#SBATCH --ntasks=3 --gpus=4 --gpus-per-task=2
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=2 --gpus=8 --gpus-per-node=4
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4 --ntasks-per-node=4
)",
           R"(#!/bin/bash
#SBATCH --ntasks=2 --gpus=4 --gpus-per-task=2
)"}};
}

} // namespace hpcml::check
