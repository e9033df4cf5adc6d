// SPDX-License-Identifier: MIT
// Terminals in jobs that have none.
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_pty_in_batch {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.header.directives.empty()) return hits;
  for (const auto& launch : subject.launches)
    for (const auto& link : launch.chain) {
      const auto* pty = link.program == "srun" ? link.find("pty") : nullptr;
      if (!pty || launch.command->parent || link.find("jobid")) continue;
      hits.add({pty->place,
                is_shell(launch)
                    ? "a batch job has no terminal: this shell ends at once"
                    : "a batch job has no terminal, and the output of all tasks but the first is lost",
                "remove --pty"});
    }
  return hits;
}

} // namespace launch_pty_in_batch

Rule rule_launch_pty_in_batch() {
  using namespace launch_pty_in_batch;
  return {
      .id = "launch/pty-in-batch",
      .severity = diag::Severity::note,
      .title = "srun --pty in a batch script",
      .why = "--pty is for interactive use: a batch job has no terminal. It sends the output of all tasks "
             "but the first to /dev/null, and a shell that reads commands ends at once.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_pty",
      .bad = {R"(#!/bin/bash
#SBATCH --ntasks=4
srun --pty python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --ntasks=4
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
