// SPDX-License-Identifier: MIT
// ssh from the batch script to other nodes.
#include "check/remote_shell.hpp"

#include "check/rule.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace safety_ssh_node {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const bool knows_nodes = subject.text.find("SLURM_JOB_NODELIST") != std::string_view::npos ||
                           subject.text.find("SLURM_NODELIST") != std::string_view::npos ||
                           subject.text.find("scontrol show host") != std::string_view::npos;
  if (!knows_nodes) return hits; // it may go anywhere
  for (const auto& command : subject.view.commands) {
    if (command.context.uncalled || !starts_on_nodes(command)) continue;
    hits.push_back({command.place,
                    fmt::format("{} starts programs outside of the job's steps", *command.name()),
                    "use srun --nodelist=NODE --ntasks=1"});
  }
  return hits;
}

} // namespace safety_ssh_node

Rule rule_safety_ssh_node() {
  using namespace safety_ssh_node;
  return {"safety/ssh-node",
          diag::Severity::note,
          "ssh to nodes of the job",
          "What ssh starts runs outside of the job's steps: Slurm neither counts nor binds nor reliably "
          "stops it, GPUs are not set, "
          "and many sites do not let users log in to compute nodes at all.",
          "https://slurm.schedmd.com/pam_slurm_adopt.html",
          {R"(#!/bin/bash
for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do ssh $n hostname & done; wait
)",
           R"(#!/bin/bash
pdsh -w $SLURM_JOB_NODELIST python train.py
)",
           R"(#!/bin/bash
A=$(scontrol show hostnames | head -1)
ssh $A nvidia-smi
)"},
          {R"(#!/bin/bash
srun --nodelist=$SLURM_JOB_NODELIST hostname
)",
           R"(#!/bin/bash
ssh login1 sbatch next.sh
)",
           R"(#!/bin/bash
echo $SLURM_JOB_NODELIST
ssh $SLURM_SUBMIT_HOST cp a b
ssh -q $GO sbatch next.sh
)",
           R"(#!/bin/bash
ssh-keygen -t ed25519
)",
           R"(#!/bin/bash
F=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -1)
IP=$(ssh $F hostname -I)
srun ./a
)",
           R"(#!/bin/bash
echo $SLURM_JOB_NODELIST
SERVER=mds1
pdsh -w $SERVER sync
ssh -q mds1 sync
)",
           R"(#!/bin/bash
echo $SLURM_JOB_NODELIST
ssh -N -f -R 8888:localhost:8888 login1
)"},
          find};
}

} // namespace hpcml::check
