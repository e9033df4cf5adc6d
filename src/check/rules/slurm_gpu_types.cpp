// SPDX-License-Identifier: MIT
// GPUs asked for with a type in one place and without in another.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_gpu_types() {
  return {"slurm/gpu-types",
          diag::Severity::error,
          "GPUs with and without a type",
          "Where several options ask for GPUs, all or none must name the type: \"Invalid GRES specification "
          "(with and without type "
          "identification)\".",
          "https://slurm.schedmd.com/gres.html",
          {R"(#!/bin/bash
#SBATCH --gpus=8 --gpus-per-node=a100:4
)",
           R"(#!/bin/bash
#SBATCH --gres=gpu:a100:4,gpu:2
)",
           R"(#!/bin/bash
#SBATCH -n4 --gpus-per-task=1 --gres=gpu:a100:4
)"},
          {R"(#!/bin/bash
#SBATCH --gpus-per-node=a100:4
)",
           R"(#!/bin/bash
#SBATCH --gpus=a100:8 --gpus-per-node=a100:4
)",
           R"(#!/bin/bash
#SBATCH --gres=gpu:a100:2,gpu:h100:2
)"}};
}

} // namespace hpcml::check
