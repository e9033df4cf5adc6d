// SPDX-License-Identifier: MIT
// torchrun on several nodes that its own knows only: --standalone, or no --nnodes.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "core/model/launcher.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_standalone {

using model::OptionMeaning;

constexpr const char* k_hint = "--nnodes=$SLURM_NNODES --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID "
                               "--rdzv_endpoint=HOST:PORT, with the first node as HOST";

/// True if torchrun visibly has no number of nodes: it then uses one.
bool has_no_node_count(const Launch& launch, const Link& agent) {
  const auto* launcher = model::find_launcher(agent.program);
  const auto variable = launcher->variable_for(launcher->option_for(OptionMeaning::nodes));
  return agent.complete && !agent.find(OptionMeaning::nodes) && !find_any(agent, {"h", "help"}) &&
         launch.variables(variable).empty();
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* launcher = agent ? model::find_launcher(agent->program) : nullptr;
    // Nodes that do not count themselves are launch/node-rank's affair.
    if (!launcher || !launcher->alone_without_nodes || !launcher->counts_nodes || !launch.step()) continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.several_nodes) continue;
    if (is_standalone(launch, *agent)) {
      const auto* option = agent->find(OptionMeaning::alone);
      const auto name = std::string(launcher->option_for(OptionMeaning::alone));
      add_match(hits, {option ? option->place : agent->place,
                       fmt::format("{} makes each node train separately: the nodes never connect",
                                   option ? "--" + name : launcher->variable_for(name)),
                       k_hint});
    } else if (shape.tasks_per_node == 1 && has_no_node_count(launch, *agent))
      add_match(hits,
                {agent->place,
                 fmt::format("{} without --{}{}", agent->program, launcher->option_for(OptionMeaning::nodes),
                             agent->find(OptionMeaning::endpoint)
                                 ? " uses one node: the others wait at the rendezvous in vain"
                                 : " makes each node train separately: the nodes never connect"),
                 k_hint});
  }
  return hits;
}

} // namespace launch_standalone

Rule rule_launch_standalone() {
  using namespace launch_standalone;
  return {"launch/standalone",
          diag::Severity::warning,
          "torchrun without a common rendezvous",
          "--standalone opens a rendezvous on the node's own address and ignores --rdzv_endpoint and "
          "--rdzv_id; without --nnodes torchrun takes one node for all there are. Started on several nodes "
          "it gives as many "
          "trainings of the same model, which write over each other's checkpoints.",
          "https://docs.pytorch.org/docs/stable/elastic/run.html#single-node-multi-worker",
          {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --standalone --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH -N4
srun bash -c 'torchrun --standalone --nnodes=4 --nproc_per_node=4 train.py'
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
export PET_STANDALONE=1
srun torchrun --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH -N2
srun -n2 singularity exec x.sif python -m torch.distributed.run --standalone --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
srun torchrun --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)",
           R"(#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
srun env OLD_PET_NNODES=2 torchrun --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH -N2 --ntasks-per-node=1
export APPTAINERENV_PET_NNODES=2
srun torchrun --nproc_per_node=4 train.py
)"},
          {R"(#!/bin/bash
#SBATCH --nodes=1
srun torchrun --standalone --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun env PET_NNODES=2 torchrun --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnode=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun --export=ALL,PET_NNODES=2 torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun apptainer exec --env PET_NNODES=2 x.sif torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun env PET_NNODES=$SLURM_NNODES torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
PET_NNODES=2 srun bash -c 'torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py'
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
export APPTAINERENV_PET_NNODES=2
srun apptainer exec x.sif torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun podman run -e PET_NNODES image torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2
srun -N1 -n1 torchrun --standalone --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun $ARGS train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
export PET_NNODES=2
srun torchrun --nproc_per_node=4 train.py
)",
           R"(#!/bin/bash
#SBATCH --nodes=2
srun torchrun --rdzv_backend=c10d --rdzv_endpoint=$H:$P --nnodes=2 --nproc_per_node=4 train.py
)"},
          find};
}

} // namespace hpcml::check
