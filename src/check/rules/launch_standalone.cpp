// SPDX-License-Identifier: MIT
// torchrun on several nodes that its own knows only: --standalone, or no --nnodes.
#include <algorithm>

#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "core/model/launcher.hpp"
#include "core/util/text.hpp"
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

/// The text of the configuration that the agent's option names; empty where it cannot be read.
std::string config_text(const LintContext& subject, const GivenOption& option) {
  if (!option.value || !option.value->known() || !subject.read_file) return {};
  return subject.read_file(option.value->text()).value_or("");
}

/// Whether the node's number is among the words: each node works on its own part of something.
bool works_on_part(const Launch& launch) {
  const auto& words = launch.command->words;
  return std::any_of(words.begin(), words.end(), [](const auto& word) {
    return reading_piece(word, {"SLURM_PROCID", "SLURM_NODEID"}) != nullptr;
  });
}

/// Whether something gives the agent its place among the nodes, as far as is visible.
bool is_numbered(const Launch& launch, const Link& agent) {
  if (!agent.complete || find_any(agent, {"h", "help", "mpirun_hostfile"})) return true;
  for (const auto what :
       {OptionMeaning::node_rank, OptionMeaning::backend, OptionMeaning::hosts, OptionMeaning::no_ssh})
    if (agent.find(what)) return true;
  return launch.variable(agent, OptionMeaning::node_rank) || launch.variable(agent, OptionMeaning::config);
}

/// What is wrong with accelerate or deepspeed on each node, which cannot number their nodes themselves; empty
/// where nothing is.
std::string fault_of_uncounted(const LintContext& subject, const Launch& launch, const Link& agent,
                               const model::LauncherRow& launcher) {
  if (is_numbered(launch, agent) || works_on_part(launch)) return {};
  if (const auto* config = agent.find(OptionMeaning::config)) {
    const auto text = config_text(subject, *config);
    if (text.find("rdzv_backend: c10d") != std::string::npos) return {};
    return fmt::format("each node reads the same {} from the configuration",
                       launcher.number_option.substr(2));
  }
  if (agent.find(OptionMeaning::nodes) && !launcher.uses_ssh) return {}; // launch/node-rank reports it
  if (launcher.uses_ssh && subject.text.find("hostfile") != std::string_view::npos) return {};
  return fmt::format("each node starts its own {} and trains separately: the nodes never connect",
                     agent.program);
}

void check_uncounted(const LintContext& subject, const Launch& launch, const Link& agent,
                     const model::LauncherRow& launcher, RuleMatches& hits) {
  auto fault = fault_of_uncounted(subject, launch, agent, launcher);
  if (fault.empty()) return;
  add_match(hits, {agent.place, std::move(fault),
                   launcher.number_option.empty()
                       ? "remove it, and start one task per GPU: srun --ntasks-per-node=GPUS python train.py"
                       : fmt::format("let each task set its number: srun bash -c '{} --num_machines "
                                     "$SLURM_NNODES {} $SLURM_NODEID …'",
                                     util::join(launcher.words.start(), " "), launcher.number_option)});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    const auto* launcher = agent ? model::find_launcher(agent->program) : nullptr;
    if (!launcher || !launcher->alone_without_nodes || !launch.step()) continue;
    const auto shape = shape_of(subject, launch);
    if (!shape.several_nodes) continue;
    if (!launcher->counts_nodes) {
      if (shape.tasks_per_node == 1) check_uncounted(subject, launch, *agent, *launcher, hits);
      continue;
    }
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
      .title = "Launcher without a common rendezvous",
      .why = "--standalone opens a rendezvous on the node's own address and ignores --rdzv_endpoint and "
             "--rdzv_id. Without --nnodes torchrun uses one node. deepspeed and accelerate need a number for "
             "each "
             "node, which one configuration for all nodes cannot give. Started on several nodes, they run as "
             "many trainings of the same model, which write over each other's checkpoints.",
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
