// SPDX-License-Identifier: MIT
// ssh from the batch script to other nodes.
#include "check/remote_shell.hpp"
#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_ssh_node {

Hits find(const Subject& subject) {
  Hits hits;
  const bool knows_nodes = subject.text.find("SLURM_JOB_NODELIST") != std::string_view::npos ||
                           subject.text.find("SLURM_NODELIST") != std::string_view::npos ||
                           subject.text.find("scontrol show host") != std::string_view::npos;
  if (!knows_nodes) return hits; // it may go anywhere
  for (const auto& command : subject.view.commands) {
    if (command.context.uncalled || !starts_on_nodes(command)) continue;
    hits.push_back({command.place, *command.name() + " starts programs outside of the job's steps",
                    "use srun --nodelist=NODE --ntasks=1"});
  }
  return hits;
}

} // namespace safety_ssh_node

Rule rule_safety_ssh_node() {
  using namespace safety_ssh_node;
  return {
      "safety/ssh-node",
      diag::Severity::note,
      "ssh to nodes of the job",
      "What ssh starts runs outside of the job's steps: Slurm neither counts nor binds nor reliably "
      "stops it, GPUs are not set, "
      "and many sites do not let users log in to compute nodes at all.",
      "https://slurm.schedmd.com/pam_slurm_adopt.html",
      {"#!/bin/bash\nfor n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do ssh $n hostname & done; "
       "wait\n",
       "#!/bin/bash\npdsh -w $SLURM_JOB_NODELIST python train.py\n",
       "#!/bin/bash\nA=$(scontrol show hostnames | head -1)\nssh $A nvidia-smi\n"},
      {"#!/bin/bash\nsrun --nodelist=$SLURM_JOB_NODELIST hostname\n",
       "#!/bin/bash\nssh login1 sbatch next.sh\n",
       "#!/bin/bash\necho $SLURM_JOB_NODELIST\nssh $SLURM_SUBMIT_HOST cp a b\nssh -q $GO sbatch next.sh\n",
       "#!/bin/bash\nssh-keygen -t ed25519\n",
       "#!/bin/bash\nF=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -1)\nIP=$(ssh $F hostname "
       "-I)\nsrun ./a\n",
       "#!/bin/bash\necho $SLURM_JOB_NODELIST\nSERVER=mds1\npdsh -w $SERVER sync\nssh -q mds1 sync\n",
       "#!/bin/bash\necho $SLURM_JOB_NODELIST\nssh -N -f -R 8888:localhost:8888 login1\n"},
      find};
}

} // namespace hpcml::check
