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
          {"#!/bin/bash\n#SBATCH --gpus=8 --gpus-per-node=a100:4\n",
           "#!/bin/bash\n#SBATCH --gres=gpu:a100:4,gpu:2\n",
           "#!/bin/bash\n#SBATCH -n4 --gpus-per-task=1 --gres=gpu:a100:4\n"},
          {"#!/bin/bash\n#SBATCH --gpus-per-node=a100:4\n",
           "#!/bin/bash\n#SBATCH --gpus=a100:8 --gpus-per-node=a100:4\n",
           "#!/bin/bash\n#SBATCH --gres=gpu:a100:2,gpu:h100:2\n"}};
}

} // namespace hpcml::check
