// SPDX-License-Identifier: MIT
// GPUs asked for with a type in one place and without in another.
#include "check/rule.hpp"

namespace hpcml::check {

Rule rule_slurm_gpu_types() {
  return {
      .id = "slurm/gpu-types",
      .severity = diag::Severity::error,
      .title = "GPUs with and without a type",
      .why =
          "Where several options ask for GPUs, all or none must name the type: \"Invalid GRES specification "
          "(with and without type "
          "identification)\".",
      .link = "https://slurm.schedmd.com/gres.html",
      .bad = {R"(#!/bin/bash
#SBATCH --gpus=8 --gpus-per-node=a100:4
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gpus-per-node=a100:4
)"},
  };
}

} // namespace hpcml::check
