// SPDX-License-Identifier: MIT
// GPUs that are asked for by the number zero.
#include <algorithm>
#include <array>

#include "check/rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace slurm_no_gpus {

constexpr std::array<std::string_view, 4> k_options = {"gres", "gpus", "gpus-per-node", "gpus-per-task"};

/// Whether the job uses GPUs by what it starts or loads: to a job on CPUs zero is right.
bool uses_gpus(const Subject& subject) {
  static constexpr std::array<std::string_view, 8> k_signs = {"cuda", "nvidia-smi", "--nv ", "rocm",
                                                              "nccl", "torchrun",   "cudnn", "gpu-bind"};
  const auto body = util::to_lower(subject.text.substr(std::min(subject.header.end, subject.text.size())));
  if (std::any_of(k_signs.begin(), k_signs.end(),
                  [&](auto sign) { return body.find(sign) != std::string::npos; }))
    return true;
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    if (launch.agent()) return true;
    const auto* python = launch.python();
    if (!python || python->operands.empty()) return false;
    const auto program = util::to_lower(python->operands[0].text());
    return program.find("train") != std::string::npos && program.find("cpu") == std::string::npos;
  });
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& request : subject.requests)
    for (const auto option : k_options) {
      const auto items = request.gres.find(option);
      if (items == request.gres.end() || request.place(option).length == 0) continue;
      const bool zero =
          std::any_of(items->second.begin(), items->second.end(),
                      [](const slurm::GresItem& item) { return item.name == "gpu" && item.count == 0; });
      if (zero && uses_gpus(subject))
        hits.add({request.place(option), "this asks for no GPU: the number is 0",
                  "write how many GPUs the job uses, or remove the option from a job without GPUs"});
    }
  return hits;
}

} // namespace slurm_no_gpus

Rule rule_slurm_no_gpus() {
  using namespace slurm_no_gpus;
  return {"slurm/no-gpus",
          diag::Severity::note,
          "Zero GPUs asked for",
          "--gres=gpu:0 is taken and gives none: left over from a test without GPUs it leaves a training on "
          "the CPUs, or without any device, on a node full of GPUs.",
          "https://slurm.schedmd.com/sbatch.html#OPT_gres",
          {"#!/bin/bash\n#SBATCH --gres=gpu:0\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH --gpus-per-node=0\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=1 --gres=gpu:a100:0\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=1 --gres=gpu:0\nnvidia-smi\nsrun ./solver\n"},
          {"#!/bin/bash\n#SBATCH --gres=gpu:1\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH -p day --gres=gpu:0\npython preprocess.py --workers 8\n",
           "#!/bin/bash\n#SBATCH --gpus=0\npython mnist-cpu-train.py\n",
           "#!/bin/bash\n#SBATCH --gres=gpu\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH --gres=none\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH --gres=nvme:0\nsrun python train.py\n"},
          find};
}

} // namespace hpcml::check
