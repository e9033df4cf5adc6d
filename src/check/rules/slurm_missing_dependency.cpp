// SPDX-License-Identifier: MIT
// An option that has no meaning without another.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_missing_dependency() {
  return {"slurm/missing-dependency",
          diag::Severity::error,
          "Option that needs another",
          "--gpus-per-task needs a number of tasks, nodes or GPUs, --cpus-per-gpu and --mem-per-gpu need "
          "GPUs, --gpus-per-socket "
          "needs sockets: without them sbatch refuses the job.",
          "https://slurm.schedmd.com/sbatch.html#OPT_gpus-per-task",
          {R"(#!/bin/bash
#SBATCH --gpus-per-task=1
)",
           R"(#!/bin/bash
#SBATCH --cpus-per-gpu=8
)",
           R"(#!/bin/bash
#SBATCH --nodes=1 --mem-per-gpu=32G
)",
           R"(#!/bin/bash
#SBATCH --ntasks-per-node=4 --gpus-per-task=1
)"},
          {R"(#!/bin/bash
#SBATCH --ntasks=4 --gpus-per-task=1
)",
           R"(#!/bin/bash
#SBATCH --gpus=2 --cpus-per-gpu=8
)",
           {R"(#!/bin/bash
#SBATCH --ntasks-per-node=4 --gpus-per-task=1
)",
            "", "22.05"}}};
}

} // namespace hpcml::check
