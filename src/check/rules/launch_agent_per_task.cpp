// SPDX-License-Identifier: MIT
// torchrun and its like started once per task instead of once per node.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_agent_per_task {

/// How many processes one agent starts on its node; nothing where that cannot be seen.
std::optional<long> processes_of(const Link& agent, const LaunchShape& shape) {
  if (!agent.complete) return std::nullopt;
  if (agent.program == "deepspeed") {
    const auto* gpus = agent.find("num_gpus");
    return gpus && gpus->value ? number_of(*gpus->value, shape) : shape.gpus_per_node;
  }
  if (agent.program == "accelerate") {
    const auto* all = find_any(agent, {"num_processes", "num-processes"});
    const auto* machines = find_any(agent, {"num_machines", "num-machines"});
    const auto total = all && all->value ? number_of(*all->value, shape) : std::nullopt;
    const auto nodes = machines && machines->value ? number_of(*machines->value, shape)
                                                   : std::optional<long>(machines ? 0 : 1);
    return total && nodes && *nodes > 0 ? std::optional(*total / *nodes) : std::nullopt;
  }
  const auto* given = find_any(agent, {"nproc_per_node", "nproc-per-node"});
  if (!given || !given->value) return std::nullopt;
  const auto text = given->value->text();
  return text == "gpu" || text == "auto" ? shape.gpus_per_node : number_of(*given->value, shape);
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* step = launch.step();
    if (!agent || !step || step->place.offset > agent->place.offset) continue;
    const auto shape = shape_of(subject, launch);
    const auto processes = processes_of(*agent, shape);
    if (!shape.several_tasks_per_node() || !processes || *processes < 2) continue;
    const auto tasks = std::to_string(*shape.tasks_per_node), each = std::to_string(*processes);
    add_hit(hits,
            {place_of(step->place),
             step->program + " starts " + tasks + " tasks on each node, and each starts " + agent->program +
                 " with " + each + " processes: " + std::to_string(*shape.tasks_per_node * *processes) +
                 " processes share the node's GPUs",
             "start one per node: #SBATCH --ntasks-per-node=1 with " + tasks +
                 " times the --cpus-per-task; or drop " + agent->program + " and start python by srun"});
  }
  return hits;
}

} // namespace launch_agent_per_task

Rule rule_launch_agent_per_task() {
  using namespace launch_agent_per_task;
  return {
      "launch/agent-per-task",
      diag::Severity::warning,
      "torchrun started by every task",
      "torchrun, accelerate and deepspeed start one process per GPU themselves. Started by every task of "
      "srun they multiply: several independent "
      "trainings share the same GPUs, run out of memory, or wait for agents that were not counted.",
      "https://docs.pytorch.org/docs/stable/elastic/run.html",
      {"#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --ntasks-per-node=2\n#SBATCH --gpus-per-node=2\nsrun python3 "
       "-m torch.distributed.run --standalone --nnodes=1 --nproc-per-node=2 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8\nsrun bash -c 'torchrun "
       "--nnodes=2 --nproc_per_node=$SLURM_GPUS_ON_NODE --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d "
       "--rdzv_endpoint=$H:$P train.py'\n",
       "#!/bin/bash\n#SBATCH -N1 -n4 --gpus-per-node=4\nsrun accelerate launch --num_processes 4 train.py\n",
       "#!/bin/bash\n#SBATCH -N1 --gpus-per-node=4\nsrun -n4 torchrun --standalone --nproc_per_node=gpu "
       "train.py\n"},
      {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=8\nsrun torchrun --nnodes=2 "
       "--nproc_per_node=8 --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=8\nsrun --ntasks=$SLURM_NNODES --ntasks-per-node=1 "
       "torchrun --nproc_per_node=8 --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4 --gpus-per-node=4\nsrun torchrun "
       "--nproc_per_node=1 --nnodes=$SLURM_NTASKS --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-node=4\ntorchrun --standalone "
       "--nproc_per_node=4 train.py\n"},
      find};
}

} // namespace hpcml::check
