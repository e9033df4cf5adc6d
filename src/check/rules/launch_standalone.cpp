// SPDX-License-Identifier: MIT
// torchrun on several nodes that knows of its own only: --standalone, or no --nnodes.
#include <algorithm>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_standalone {

constexpr const char* k_hint = "--nnodes=$SLURM_NNODES --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID "
                               "--rdzv_endpoint=HOST:PORT, with the first node as HOST";

/// Whether a word of the commands around the agent sets the variable: `srun env PET_NNODES=2 torchrun`,
/// `apptainer exec --env PET_NNODES=2`.
bool sets(const Subject& subject, const shell::Command& command, std::string_view variable) {
  if (std::any_of(command.words.begin(), command.words.end(),
                  [&](const auto& word) { return word.text().find(variable) != std::string::npos; }))
    return true;
  return command.parent && sets(subject, subject.view.commands[*command.parent], variable);
}

/// Whether it can be seen that torchrun is not told of other nodes: it takes one then.
bool is_told_of_none(const Subject& subject, const Launch& launch, const Link& agent) {
  const auto told = [](const GivenOption& option) { // or a short form, as argparse takes them: --nnode
    return option.name == "h" || util::starts_with("help", option.name) ||
           (option.name.size() > 1 && util::starts_with("nnodes", option.name));
  };
  return agent.complete && std::none_of(agent.options.begin(), agent.options.end(), told) &&
         !launch.variable("PET_NNODES") && !sets(subject, *launch.command, "PET_NNODES=");
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    if (!agent || agent->program != "torchrun" || !launch.step()) continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.several_nodes) continue;
    if (is_standalone(launch, *agent)) {
      const auto* option = agent->find("standalone");
      add_hit(hits, {option ? option->place : agent->place,
                     std::string(option ? "--standalone" : "PET_STANDALONE") +
                         " makes each node train by itself: the nodes never meet",
                     k_hint});
    } else if (shape.tasks_per_node == 1 && is_told_of_none(subject, launch, *agent))
      add_hit(hits,
              {agent->place,
               find_any(*agent, {"rdzv_endpoint", "rdzv-endpoint"})
                   ? "torchrun without --nnodes takes one node: the others wait at the rendezvous in vain"
                   : "torchrun without --nnodes makes each node train by itself: the nodes never meet",
               k_hint});
  }
  return hits;
}

} // namespace launch_standalone

Rule rule_launch_standalone() {
  using namespace launch_standalone;
  return {
      "launch/standalone",
      diag::Severity::warning,
      "torchrun on several nodes that never meet",
      "--standalone opens a rendezvous on the node's own address and ignores --rdzv_endpoint and "
      "--rdzv_id; without --nnodes torchrun takes one node for all there are. Started on several nodes "
      "it gives as many "
      "trainings of the same model, which write over each other's checkpoints.",
      "https://docs.pytorch.org/docs/stable/elastic/run.html#single-node-multi-worker",
      {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun torchrun --standalone "
       "--nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH -N4\nsrun bash -c 'torchrun --standalone --nnodes=4 --nproc_per_node=4 "
       "train.py'\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun torchrun --nproc_per_node=4 "
       "train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nexport PET_STANDALONE=1\nsrun torchrun "
       "--nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH -N2\nsrun -n2 singularity exec x.sif python -m torch.distributed.run "
       "--standalone --nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH -N2 --ntasks-per-node=1\nsrun torchrun --nproc_per_node=4 --rdzv_backend=c10d "
       "--rdzv_endpoint=$H:$P train.py\n"},
      {"#!/bin/bash\n#SBATCH --nodes=1\nsrun torchrun --standalone --nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun env PET_NNODES=2 torchrun "
       "--nproc_per_node=4 "
       "train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun torchrun --nnode=2 --nproc_per_node=4 "
       "--rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun --export=ALL,PET_NNODES=2 torchrun "
       "--rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun apptainer exec --env PET_NNODES=2 x.sif "
       "torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun env PET_NNODES=$SLURM_NNODES torchrun "
       "--rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2\nsrun -N1 -n1 torchrun --standalone --nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun torchrun $ARGS train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nexport PET_NNODES=2\nsrun torchrun "
       "--nproc_per_node=4 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P "
       "--nnodes=2 --nproc_per_node=4 train.py\n"},
      find};
}

} // namespace hpcml::check
