// SPDX-License-Identifier: MIT
// Launchers that reach the other nodes over ssh.
#include "check/launch_facts.hpp"

#include "core/model/launcher.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_ssh_launcher {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* launcher = agent ? model::find_launcher(agent->program) : nullptr;
    if (!launcher || !launcher->uses_ssh || launch.step()) continue;
    const auto* option = agent->find(model::OptionMeaning::hosts);
    if (!option || agent->find(model::OptionMeaning::no_ssh)) continue;
    add_match(hits, {option->place,
                     fmt::format("{} starts the other nodes over ssh, outside of Slurm's accounting and "
                                 "often not allowed between compute nodes",
                                 agent->program),
                     "use srun with one process per GPU (deepspeed.init_distributed reads rank and address "
                     "from the environment), or deepspeed --no_ssh once per node"});
  }
  return hits;
}

} // namespace launch_ssh_launcher

Rule rule_launch_ssh_launcher() {
  using namespace launch_ssh_launcher;
  return {
      .id = "launch/ssh-launcher",
      .severity = diag::Severity::note,
      .title = "Launcher that needs ssh between nodes",
      .why =
          "deepspeed with a hostfile runs pdsh or ssh. Processes started so are outside the job's step: they "
          "do not have its environment, its limits or its end, and the site "
          "may refuse the connection.",
      .link = "https://www.deepspeed.ai/getting-started/#resource-configuration-multi-node",
      .bad = {R"(#!/bin/bash
#SBATCH -N2
deepspeed --hostfile=hosts train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1
deepspeed train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
