// SPDX-License-Identifier: MIT
// One plain python on a node with several GPUs.
#include <algorithm>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_idle_gpus {

Hits find(const Subject& subject) {
  Hits hits;
  const bool elsewhere = std::any_of(subject.launches.begin(), subject.launches.end(),
                                     [](const Launch& launch) { return launch.step() || launch.agent(); });
  for (const auto& launch : subject.launches) {
    const auto* python = launch.python();
    if (!python || launch.agent() || !python->module.empty() || !python->complete ||
        launch.command->context.background || launch.command->context.loop)
      continue;
    if (python->operands.empty() || !python->operands[0].known() ||
        !util::ends_with(python->operands[0].text(), ".py"))
      continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.gpus_per_node || !shape.tasks_per_node || *shape.tasks_per_node != 1 ||
        *shape.gpus_per_node < 2 || launch.command->context.substitution)
      continue;
    // A step elsewhere does the work; this one prepares it.
    if (!launch.step() && elsewhere) continue;
    add_hit(hits, {place_of(python->place),
                   "one process on a node with " + std::to_string(*shape.gpus_per_node) +
                       " GPUs: all but one stay idle unless it uses them by itself",
                   "start one process per GPU (torchrun --nproc_per_node, or srun with --ntasks-per-node), "
                   "or ask for one GPU"});
  }
  return hits;
}

} // namespace launch_idle_gpus

Rule rule_launch_idle_gpus() {
  using namespace launch_idle_gpus;
  return {"launch/idle-gpus",
          diag::Severity::note,
          "One process for several GPUs",
          "DistributedDataParallel needs one process per GPU. A single python uses one GPU unless its "
          "program starts others itself (mp.spawn, "
          "DataParallel, device_map); what is not used counts against the project all the same.",
          "https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html",
          {"#!/bin/bash\n#SBATCH --nodes=1 --gpus-per-node=4\npython train.py\n",
           "#!/bin/bash\n#SBATCH -N2 --gres=gpu:8\nsrun python train.py --epochs 3\n",
           "#!/bin/bash\n#SBATCH --nodes=1 --ntasks=1 --gres=gpu:a100:2\nsrun singularity exec --nv x.sif "
           "python -u train.py\n"},
          {"#!/bin/bash\n#SBATCH --nodes=1 --gpus-per-node=1\npython train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=1 --gpus-per-node=4\ntorchrun --standalone --nproc_per_node=4 "
           "train.py\n",
           "#!/bin/bash\n#SBATCH -N1 --gpus-per-node=4 --ntasks-per-node=4\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH -N1 --gpus-per-node=2\npython a.py &\npython b.py &\nwait\n"},
          find};
}

} // namespace hpcml::check
