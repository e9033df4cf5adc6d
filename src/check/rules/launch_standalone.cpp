// SPDX-License-Identifier: MIT
// torchrun --standalone on several nodes.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_standalone {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* option = agent && agent->program == "torchrun" ? agent->find("standalone") : nullptr;
    if (!option || !launch.step() || !shape_of(subject, launch).several_nodes) continue;
    add_hit(hits,
            {place_of(option->place), "--standalone makes each node train by itself: the nodes never meet",
             "--nnodes=$SLURM_NNODES --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID --rdzv_endpoint=HOST:PORT, "
             "with the first node as HOST"});
  }
  return hits;
}

} // namespace launch_standalone

Rule rule_launch_standalone() {
  using namespace launch_standalone;
  return {"launch/standalone",
          diag::Severity::warning,
          "--standalone on several nodes",
          "--standalone opens a rendezvous on the node's own address and ignores --rdzv_endpoint and "
          "--rdzv_id. Started on several nodes it gives as many "
          "trainings of the same model, which write over each other's checkpoints.",
          "https://docs.pytorch.org/docs/stable/elastic/run.html#single-node-multi-worker",
          {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun torchrun --standalone "
           "--nproc_per_node=4 train.py\n",
           "#!/bin/bash\n#SBATCH -N4\nsrun bash -c 'torchrun --standalone --nnodes=4 --nproc_per_node=4 "
           "train.py'\n",
           "#!/bin/bash\n#SBATCH -N2\nsrun -n2 singularity exec x.sif python -m torch.distributed.run "
           "--standalone --nproc_per_node=4 train.py\n"},
          {"#!/bin/bash\n#SBATCH --nodes=1\nsrun torchrun --standalone --nproc_per_node=4 train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2\nsrun -N1 -n1 torchrun --standalone --nproc_per_node=4 train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P "
           "--nnodes=2 --nproc_per_node=4 train.py\n"},
          find};
}

} // namespace hpcml::check
