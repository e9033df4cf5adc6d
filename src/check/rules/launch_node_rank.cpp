// SPDX-License-Identifier: MIT
// Agents on several nodes that all have the same node rank.
#include <algorithm>

#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "check/remote_shell.hpp"
#include "core/model/launcher.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_node_rank {

using model::OptionMeaning;

/// Whether the rendezvous counts the nodes itself.
bool counts_itself(const Launch& launch, const Link& agent) {
  if (launch.variable(agent, OptionMeaning::node_rank) || launch.variable(agent, OptionMeaning::backend) ||
      agent.find(OptionMeaning::alone))
    return true;
  const auto* backend = agent.find(OptionMeaning::backend);
  return backend && !(backend->value && backend->value->text() == "static");
}

/// True if the batch script starts no step and no remote shell: what it runs, it runs on the first node.
bool stays_on_first_node(const LintContext& subject) {
  return std::none_of(subject.launches.begin(), subject.launches.end(),
                      [](const Launch& launch) { return launch.step() || is_remote_shell(*launch.command); });
}

/// Reports the ranks of nodes that the batch shell expands: they are that of the first node.
void find_batch_ranks(const LintContext& subject, RuleMatches& hits) {
  if (!shape_of_job(subject).several_nodes || !stays_on_first_node(subject)) return;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* rank = agent ? agent->find(OptionMeaning::node_rank) : nullptr;
    if (!rank || !rank->value || counts_itself(launch, *agent)) continue;
    const auto* piece = reading_piece(*rank->value, {"SLURM_PROCID", "SLURM_NODEID"});
    if (!piece) continue;
    add_match(hits,
              {rank->place,
               fmt::format("{} is 0 in the batch script, so every node gets the same rank", piece->text),
               "let each task expand it: srun bash -c '… $SLURM_NODEID …' in single quotes",
               {},
               diag::Severity::warning});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  find_batch_ranks(subject, hits);
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* step = launch.step();
    const auto* launcher = agent ? model::find_launcher(agent->program) : nullptr;
    if (!launcher || !step || !agent->complete || launcher->number_option.empty() ||
        counts_itself(launch, *agent))
      continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.several_nodes) continue;
    const bool counts = launcher->counts_nodes;
    const auto* nodes = agent->find(OptionMeaning::nodes);
    const auto count = nodes && nodes->value ? number_of(*nodes->value, shape) : std::nullopt;
    if (!count || *count < 2) continue;
    if (agent->find(OptionMeaning::config)) continue;
    const auto* rank = agent->find(OptionMeaning::node_rank);
    if (rank && !(rank->value && rank->value->known() && number_of(*rank->value, shape))) continue;
    const std::string option(launcher->number_option);
    const bool certain = counts && shape.nodes && *shape.nodes == *count;
    add_match(hits, {rank ? rank->place : agent->place,
                     rank ? fmt::format("every node gets the same {}: {}", option, rank->value->text())
                          : fmt::format("without {} every node has the rank 0", option),
                     counts ? fmt::format("use {} to let the nodes number themselves, or let each node "
                                          "expand it: srun bash -c '… {}=$SLURM_NODEID …'",
                                          util::replace_all(std::string(launcher->address_option),
                                                            "$MASTER_ADDR", "HOST"),
                                          option)
                            : fmt::format("srun bash -c '{} {} $SLURM_NODEID …' in single quotes",
                                          util::join(launcher->words.start(), " "), option),
                     {},
                     certain ? std::nullopt : std::optional(diag::Severity::warning)});
  }
  return hits;
}

} // namespace launch_node_rank

Rule rule_launch_node_rank() {
  using namespace launch_node_rank;
  return {
      .id = "launch/node-rank",
      .severity = diag::Severity::error,
      .title = "The same node rank on all nodes",
      .why =
          "torchrun's own rendezvous is static: without --rdzv_backend=c10d each node needs its number. With "
          "the default, 0, each waits for the others at its own address until the time limit.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc_per_node=4 --master_addr=$M --master_port=$P train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID --rdzv_endpoint=$M:$P train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
