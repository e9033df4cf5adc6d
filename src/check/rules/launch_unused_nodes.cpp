// SPDX-License-Identifier: MIT
// Steps that leave nodes of the job idle.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/node_reach.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace launch_unused_nodes {

/// True if the launch is a step that sets its size.
bool sets_size(const Launch& launch) {
  const auto* step = launch.step();
  return step && find_any(*step, {"nodes", "ntasks"});
}

/// True if the launch is a step of the batch script that runs alone, on a visible number of nodes below the
/// job's.
bool is_small_step(const LintContext& subject, const Launch& launch, long nodes) {
  const auto& context = launch.command->context;
  const auto* step = launch.step();
  if (step->program != "srun" || !step->complete || context.background || context.loop || context.inexact ||
      context.pipeline || find_any(*step, {"jobid", "het-group", "nodelist", "relative", "exclude"}))
    return false;
  const auto shape = shape_of(subject, launch);
  return sets_size(launch) && shape.nodes && *shape.nodes < nodes;
}

/// True if the step is what the nodes were requested for: a launcher, or a python program on GPUs. Others may
/// start steps on the other nodes by themselves.
bool is_training(const LintContext& subject, const Launch& launch) {
  const auto gpus = shape_of_job(subject).gpus_per_node;
  return launch.agent() || (starts_python_file(launch) && does_work(launch) && gpus && *gpus > 0 &&
                            !starts_nodes(*launch.python()));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (std::none_of(subject.launches.begin(), subject.launches.end(), sets_size)) return hits;
  const auto job = shape_of_job(subject);
  if (!job.nodes || *job.nodes < 2 || !shows_all_programs(subject)) return hits;
  const Launch* first = nullptr;
  for (const auto& launch : subject.launches) {
    if (launch.command->context.uncalled || !may_reach_nodes(launch)) continue;
    // Anything else may use the other nodes.
    if (!launch.step() || !is_small_step(subject, launch, *job.nodes)) return hits;
    if (!first && is_training(subject, launch)) first = &launch;
  }
  if (!first) return hits;
  const auto* option = find_any(*first->step(), {"nodes", "ntasks"});
  const auto used = *shape_of(subject, *first).nodes;
  add_match(hits, {option->place,
                   fmt::format("the step uses {} of the job's {} nodes, and nothing uses the others", used,
                               *job.nodes),
                   fmt::format("remove the option to use all nodes, or request --nodes={}", used)});
  return hits;
}

} // namespace launch_unused_nodes

Rule rule_launch_unused_nodes() {
  using namespace launch_unused_nodes;
  return {
      .id = "launch/unused-nodes",
      .severity = diag::Severity::warning,
      .title = "Nodes that no step uses",
      .why = "srun -N1 and srun -n1 start one node's tasks, whatever the job has. Nodes without a step are "
             "paid for and idle, and a program that waits for ranks on them hangs.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_nodes",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=4
srun --nodes=1 --ntasks=1 torchrun --standalone --nproc_per_node=4 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=1 --gpus-per-node=4
srun --nodes=1 --ntasks=1 torchrun --standalone --nproc_per_node=4 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
