// SPDX-License-Identifier: MIT
// A launcher started once per task instead of once per node, or once for the job.
#include <algorithm>
#include <fmt/format.h>

#include "check/hpcml_launch.hpp"
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "core/model/launcher.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_agent_per_task {

using model::OptionMeaning;

/// How many processes one agent starts on its node; nothing where that cannot be seen.
std::optional<long> processes_of(const Link& agent, const LaunchShape& shape) {
  if (!agent.complete) return std::nullopt;
  if (const auto* all = agent.find_any({OptionMeaning::ranks, OptionMeaning::world})) {
    const auto* machines = agent.find(OptionMeaning::nodes);
    const auto total = all->value ? number_of(*all->value, shape) : std::nullopt;
    const auto nodes = machines && machines->value ? number_of(*machines->value, shape)
                                                   : std::optional<long>(machines ? 0 : 1);
    return total && nodes && *nodes > 0 ? std::optional(*total / *nodes) : std::nullopt;
  }
  const auto* option = agent.find(OptionMeaning::ranks_per_node);
  if (!option || !option->value) {
    const auto* launcher = model::find_launcher(agent.program);
    return launcher->one_without_ranks || launcher->reads_config ? std::nullopt : shape.gpus_per_node;
  }
  const auto text = option->value->text();
  return text == "gpu" || text == "auto" ? shape.gpus_per_node : number_of(*option->value, shape);
}

/// Whether the agent has no rendezvous with others: it starts its own training.
bool is_alone(const Launch& launch, const Link& agent, const LaunchShape& shape) {
  if (is_standalone(launch, agent)) return true;
  if (!agent.complete || launch.variable(agent, OptionMeaning::nodes) ||
      agent.find_any(
          {OptionMeaning::node_rank, OptionMeaning::config, OptionMeaning::hosts, OptionMeaning::world}))
    return false;
  const auto* nodes = agent.find(OptionMeaning::nodes);
  if (!nodes) return model::find_launcher(agent.program)->alone_without_nodes;
  const auto count = nodes->value ? number_of(*nodes->value, shape) : std::nullopt;
  return count && *count == 1;
}

/// What is wrong with an agent that each task of the step starts; empty where nothing is.
std::string agent_fault(const Launch& launch, const Link& step, const Link& agent, const LaunchShape& shape) {
  const bool several = shape.several_tasks_per_node();
  const bool scattered = !shape.tasks_per_node && shape.tasks && *shape.tasks > 1;
  if (!several && !scattered) return {};
  const auto tasks = std::to_string(several ? *shape.tasks_per_node : *shape.tasks);
  const auto start = fmt::format("{} starts {} tasks{}, and each of them starts {}", step.program, tasks,
                                 several ? " on each node" : "", agent.program);
  const auto processes = processes_of(agent, shape);
  if (several && processes && *processes >= 2)
    return fmt::format("{} with {} processes: {} processes share the node's GPUs", start, *processes,
                       *shape.tasks_per_node * *processes);
  if (is_alone(launch, agent, shape)) return fmt::format("{} as a separate training", start);
  const auto* nodes = agent.find(OptionMeaning::nodes);
  const auto expected = nodes && nodes->value ? number_of(*nodes->value, shape) : std::nullopt;
  if (several && agent.complete && expected && shape.nodes && *expected == *shape.nodes)
    return fmt::format("{}, which expects one such agent on each of {}", start,
                       util::counted(*shape.nodes, "node"));
  return {};
}

/// What is wrong with `hpcml launch` as the agent of each task.
std::optional<RuleMatch> own_agent_hit(const Launch& launch, const Link& step, const LaunchShape& shape) {
  const auto* own = launch.find("hpcml");
  if (own == nullptr || own->place.offset < step.place.offset || !shape.several_tasks_per_node())
    return std::nullopt;
  const auto options = agent_options_of(launch);
  const auto ranks = ranks_of_own_launch(launch, shape);
  const bool starts = find_any(*own, {"nproc-per-node", "nproc_per_node"}) != nullptr;
  if (options.empty() && !starts) return std::nullopt;
  const auto tasks = std::to_string(*shape.tasks_per_node);
  return RuleMatch{
      own->place,
      fmt::format("{} starts {} tasks on each node, and {}: hpcml launch rejects that", step.program, tasks,
                  starts ? "each of them would start the ranks of the node"
                         : fmt::format("with {} one agent per node starts the ranks", options)),
      fmt::format(
          "use one task per node: {} --ntasks-per-node=1 --ntasks={} hpcml launch --nproc-per-node {}",
          step.program, shape.nodes ? std::to_string(*shape.nodes) : "$SLURM_NNODES",
          starts && ranks ? std::to_string(*ranks) : tasks)};
}

bool is_launcher(const Link& link) {
  if (find_any(link, {"help", "version", "h"})) return false;
  return link.role == launch_chain::Role::agent || (link.role == launch_chain::Role::step && link.complete);
}

/// A launcher that each process of an agent starts: `torchrun --no-python torchrun …`.
std::string started_by_agent(const Link& agent) {
  if (!agent.find(OptionMeaning::plain) || agent.operands.empty() || !agent.operands[0].known()) return {};
  auto name = agent.operands[0].text();
  name = util::base_name(name);
  if (name.starts_with("python") && agent.operands.size() > 2 && agent.operands[1].text() == "-m")
    return std::string(model::launcher_of_module(agent.operands[2].text()));
  const auto role = launch_chain::role_of(name);
  return role == launch_chain::Role::agent || role == launch_chain::Role::step ? name : std::string();
}

/// Whether the step leaves resources of its nodes to steps within it.
bool shares_resources(const Link& step) {
  return !step.complete || find_any(step, {"overlap", "exact", "exclusive", "jobid", "het-group"});
}

/// A step that a task of another step starts.
void check_nested_step(const Link& step, const Link& inner, const LaunchShape& shape, const LaunchShape& job,
                       RuleMatches& hits) {
  const auto tasks = shape.tasks ? shape.tasks : shape.tasks_per_node;
  if (!tasks) return;
  if (*tasks > 1)
    add_match(hits, {step.place,
                     fmt::format("{} starts {} tasks, and each of them starts {}, which starts more tasks",
                                 step.program, *tasks, inner.program),
                     fmt::format("remove one of the two launchers: {} itself starts a task per rank",
                                 step.program)});
  else if (step.program == "srun" && inner.program == "srun" && job.nodes == 1 && !shares_resources(step) &&
           !shares_resources(inner))
    add_match(hits, {inner.place,
                     "this srun waits for the resources that the srun around it holds, until the time limit",
                     "remove one of the two, or use srun --overlap for the inner one"});
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    if (const auto* agent = launch.agent(); agent && !started_by_agent(*agent).empty())
      add_match(hits,
                {agent->place,
                 fmt::format("each process of {} starts {} again", agent->program, started_by_agent(*agent)),
                 "remove one of the two launchers"});
    const auto* step = launch.step();
    if (!step) continue;
    const auto shape = shape_of(subject, launch);
    if (auto hit = own_agent_hit(launch, *step, shape)) add_match(hits, std::move(*hit));
    const auto inner = std::find_if(launch.chain.begin(), launch.chain.end(), [&](const Link& link) {
      return &link != step && is_launcher(link) && link.place.offset >= step->place.offset;
    });
    if (inner == launch.chain.end()) continue;
    if (inner->role == launch_chain::Role::agent) {
      const auto fault = agent_fault(launch, *step, *inner, shape);
      if (fault.empty()) continue;
      const auto tasks = std::to_string(shape.tasks_per_node.value_or(shape.tasks.value_or(0)));
      add_match(hits, {step->place, fault,
                       "use one task per node: #SBATCH --ntasks-per-node=1 with " + tasks +
                           " times the --cpus-per-task; or remove " + inner->program +
                           " and start python by " + step->program});
    } else
      check_nested_step(*step, *inner, shape, shape_of_job(subject), hits);
  }
  return hits;
}

} // namespace launch_agent_per_task

Rule rule_launch_agent_per_task() {
  using namespace launch_agent_per_task;
  return {
      .id = "launch/agent-per-task",
      .severity = diag::Severity::warning,
      .title = "A launcher started by every task",
      .why = "torchrun, accelerate and deepspeed start one process per GPU themselves, mpirun and srun a "
             "task per "
             "rank. Started by every task of srun they multiply: several independent "
             "trainings share the same GPUs, run out of memory, or wait for agents that were not counted.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=2
#SBATCH --gpus-per-node=2
srun python3 -m torch.distributed.run --standalone --nnodes=1 --nproc-per-node=2 train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=8
srun torchrun --nnodes=2 --nproc_per_node=8 --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
