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
  for (const auto& command : subject.listing.commands) {
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
  return {
      .id = "safety/ssh-node",
      .severity = diag::Severity::note,
      .title = "ssh to nodes of the job",
      .why = "What ssh starts runs outside of the job's steps: Slurm neither counts nor binds nor reliably "
             "stops it, GPUs are not set, "
             "and many sites do not let users log in to compute nodes at all.",
      .link = "https://slurm.schedmd.com/pam_slurm_adopt.html",
      .bad = {R"(#!/bin/bash
for n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do ssh $n hostname & done; wait
)"},
      .good = {R"(#!/bin/bash
srun --nodelist=$SLURM_JOB_NODELIST hostname
)"},
      .find = find,
  };
}

} // namespace hpcml::check
