// SPDX-License-Identifier: MIT
// Programs that start a process per GPU themselves, started once per task.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace launch_spawn_per_task {

std::size_t spawn_in(std::string_view code) {
  for (const std::string_view call : {"mp.spawn(", "multiprocessing.spawn("})
    if (const auto at = code.find(call); at != std::string_view::npos) return at;
  return std::string_view::npos;
}

bool spawns(const shell::Command& command) {
  return std::any_of(command.redirects.begin(), command.redirects.end(), [](const auto& redirect) {
    return redirect.op.starts_with("<<") && spawn_in(redirect.target.text()) != std::string_view::npos;
  });
}

/// Whether a here-document of the script wrote this file, with such a call in it.
bool writes_spawning_file(const LintContext& subject, const std::string& file) {
  return std::any_of(
      subject.listing.commands.begin(), subject.listing.commands.end(), [&](const auto& command) {
        return spawns(command) &&
               std::any_of(command.redirects.begin(), command.redirects.end(), [&](const auto& redirect) {
                 return redirect.op == ">" && redirect.target.known() && redirect.target.text() == file;
               });
      });
}

RuleMatches find(const LintContext& subject) {
  if (spawn_in(subject.text) == std::string_view::npos) return {};
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* python = launch.python();
    if (!python || !launch.step() || python->operands.empty() ||
        !shape_of(subject, launch).several_tasks_per_node())
      continue;
    const auto first = python->operands[0].text();
    bool found = spawns(*launch.command);
    if (first == "-c" && python->operands.size() > 1)
      found = spawn_in(python->operands[1].text()) != std::string_view::npos;
    if (!found && python->operands[0].known()) found = writes_spawning_file(subject, first);
    if (found)
      add_match(hits, {python->place,
                       fmt::format("the program starts a process per GPU with mp.spawn, and {} starts the "
                                   "program {} times on each node",
                                   launch.step()->program, *shape_of(subject, launch).tasks_per_node),
                       "use one task per node (--ntasks-per-node=1), or remove mp.spawn and use SLURM_PROCID "
                       "as the rank"});
  }
  return hits;
}

} // namespace launch_spawn_per_task

Rule rule_launch_spawn_per_task() {
  using namespace launch_spawn_per_task;
  return {
      .id = "launch/spawn-per-task",
      .severity = diag::Severity::warning,
      .title = "mp.spawn in one task per GPU",
      .why = "torch.multiprocessing.spawn starts one process per GPU. Started by every task it gives as many "
             "trainings as there are tasks, each on all GPUs of the node, "
             "and all of them want the same port.",
      .link = "https://docs.pytorch.org/docs/stable/multiprocessing.html#spawning-subprocesses",
      .bad = {R"(#!/bin/bash
#SBATCH -N1 --ntasks-per-node=4
cat > train.py <<'EOF'
import torch.multiprocessing as mp
mp.spawn(main, nprocs=4)
EOF
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH -N1 --ntasks-per-node=1
cat > train.py <<'EOF'
mp.spawn(main, nprocs=4)
EOF
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
