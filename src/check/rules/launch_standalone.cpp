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
  return {
      .id = "launch/standalone",
      .severity = diag::Severity::warning,
      .title = "torchrun without a common rendezvous",
      .why =
          "--standalone opens a rendezvous on the node's own address and ignores --rdzv_endpoint and "
          "--rdzv_id; without --nnodes torchrun takes one node for all there are. Started on several nodes "
          "it gives as many "
          "trainings of the same model, which write over each other's checkpoints.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html#single-node-multi-worker",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --standalone --nproc_per_node=4 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1
srun torchrun --standalone --nproc_per_node=4 train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
