// SPDX-License-Identifier: MIT
// A job of several nodes whose program runs on the first one only.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/node_reach.hpp"
#include "check/remote_shell.hpp"
#include "core/model/launcher.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_missing_srun {

/// Whether one python on the first node is seen to be all that was meant to run on several: a training, or
/// what asks for GPUs. Others often start the rest themselves, by a workflow's engine or by mpirun.
bool is_alone(const LintContext& subject, const Launch& launch) {
  if (launch.agent()) return true;
  const bool gpus = std::any_of(subject.sizes.begin(), subject.sizes.end(), [](const slurm::JobSize& size) {
    return size.gpus > 0 || size.gpus_per_node > 0 || size.gpus_per_task > 0;
  });
  const auto program = util::to_lower(launch.python()->operands[0].text());
  return (gpus || program.find("train") != std::string::npos) && !loads_mpi(subject);
}

/// The text that the last assignment above the place gives the variable that is all of the value: of
/// "$NNODES" "${SLURM_NNODES:-2}". Empty if there is none.
std::string_view assigned_text(const LintContext& subject, const shell::Argument& value) {
  auto name = value.text();
  std::erase_if(name, [](char c) { return c == '$' || c == '{' || c == '}' || c == '"'; });
  if (!util::is_variable_name(name)) return {};
  const auto text = subject.text.substr(0, std::min(value.place.offset, subject.text.size()));
  std::string_view found;
  for (auto at = text.find(name + "="); at != std::string_view::npos; at = text.find(name + "=", at + 1)) {
    if (at > 0 && util::is_name_char(text[at - 1])) continue;
    const auto line = line_at(subject.text, at);
    found = subject.text.substr(at, line.offset + line.length - at);
  }
  return found;
}

/// True if the agent is set to run on several nodes: by a number, or by the job's own number of nodes.
bool expects_nodes(const LintContext& subject, const Link& agent, const LaunchShape& job) {
  const auto* nodes = agent.find(model::OptionMeaning::nodes);
  if (!nodes || !nodes->value) return false;
  const auto count = number_of(*nodes->value, job);
  if (count) return *count > 1;
  if (nodes->value->known()) { // "2:4": at least 2
    const auto least = util::parse_unsigned(nodes->value->text().substr(0, nodes->value->text().find(':')));
    return least && *least > 1;
  }
  const auto is_number = [](std::string_view text) {
    return text.find("SLURM_NNODES") != std::string_view::npos ||
           text.find("SLURM_JOB_NUM_NODES") != std::string_view::npos;
  };
  return is_number(nodes->value->text()) || is_number(assigned_text(subject, *nodes->value));
}

/// True if the batch script itself starts the command, also in text that only its own shell runs: neither
/// ssh nor a script that it writes.
bool is_in_batch_step(const LintContext& subject, const Launch& launch) {
  for (auto parent = launch.command->parent; parent; parent = subject.listing.commands[*parent].parent) {
    const auto name = subject.listing.commands[*parent].name();
    if (name != "bash" && name != "sh" && name != "eval") return false;
  }
  const auto& script = launch.command->context.script;
  return script.empty() || script == "bash -c" || script == "eval";
}

/// True if the launch may start the agent on the other nodes: by ssh, by a step that has it, or by a step
/// that runs the script again.
bool starts_others(const Launch& launch) {
  if (is_remote_shell(*launch.command)) return true;
  if (!launch.step()) return false;
  const auto& words = launch.command->words;
  return launch.agent() || std::any_of(words.begin(), words.end(), [](const auto& word) {
           const auto text = word.text();
           return text.find("$0") != std::string::npos || text.find("BASH_SOURCE") != std::string::npos;
         });
}

/// True if the agent is alone on the first node, although its options set several.
bool is_lone_agent(const LintContext& subject, const Launch& launch, const LaunchShape& job) {
  const auto* agent = launch.agent();
  const auto& context = launch.command->context;
  if (!agent || launch.step() || context.loop || context.substitution) return false;
  if (agent->find_any({model::OptionMeaning::hosts, model::OptionMeaning::no_ssh}) ||
      !is_in_batch_step(subject, launch))
    return false;
  const auto* row = model::find_launcher(agent->program);
  if (row && row->uses_ssh && subject.text.find("hostfile") != std::string_view::npos) return false;
  return expects_nodes(subject, *agent, job);
}

/// The first launcher of several nodes that only the first one runs, whatever else the script does.
const Link* find_lone_agent(const LintContext& subject, const LaunchShape& job) {
  if (std::any_of(subject.launches.begin(), subject.launches.end(), starts_others)) return nullptr;
  const auto found = std::find_if(subject.launches.begin(), subject.launches.end(),
                                  [&](const Launch& launch) { return is_lone_agent(subject, launch, job); });
  return found == subject.launches.end() ? nullptr : found->agent();
}

/// True if the command starts an agent or a python program.
bool starts_training(const Launch& launch) {
  if (launch.agent()) return true;
  const auto* python = launch.python();
  return python && python->module.empty() && !python->operands.empty() && python->operands[0].known() &&
         python->operands[0].text().find(".py") != std::string::npos && !launch.command->context.substitution;
}

/// True if the step ends before the next command and does not train: it starts nothing that a program of the
/// batch script could use.
bool is_finished_step(const Launch& launch) {
  return launch.step() && launch.step()->program == "srun" && !launch.command->context.background &&
         !launch.python() && !launch.agent() && !launch.container() && !is_shell(launch);
}

/// True if the program is a training by its name.
bool is_named_training(const Launch& launch) {
  const auto* python = launch.python();
  return python && starts_training(launch) &&
         util::to_lower(util::base_name(python->operands[0].text())).find("train") != std::string::npos;
}

/// The training that a script starts which does nothing else that may reach other nodes; nothing where that
/// is not visible.
const Launch* find_only_training(const LintContext& subject) {
  bool has_steps = false;
  for (const auto& launch : subject.launches) {
    const bool finished = is_finished_step(launch);
    has_steps = has_steps || finished;
    // A script that a sourced file or an argument completes is not to be evaluated.
    if (!finished && may_reach_nodes(launch)) return nullptr;
  }
  const auto found = std::find_if(subject.launches.begin(), subject.launches.end(),
                                  has_steps ? is_named_training : starts_training);
  if (found == subject.launches.end() || !is_alone(subject, *found) || !shows_all_programs(subject))
    return nullptr;
  return &*found;
}

RuleMatches find(const LintContext& subject) {
  const auto job = shape_of_job(subject);
  if (!job.several_nodes || subject.launches.empty()) return {};
  const std::string what =
      "nothing starts this on the other nodes: a batch script runs only on the first node of the job";
  const std::string hint =
      "add srun before it: one task per node for torchrun and accelerate, one per GPU for python";
  if (const auto* agent = find_lone_agent(subject, job)) return {{agent->place, what, hint}};
  const auto* found = find_only_training(subject);
  if (!found) return {};
  const auto* agent = found->agent();
  // An agent starts processes on its own node, unless a file lists others; a program may do anything.
  if (agent && !agent->find("config_file")) return {{agent->place, what, hint}};
  const auto& link = agent ? *agent : found->last();
  RuleMatch hit{
      link.place,
      fmt::format("{}, unless {}", what, agent ? "its configuration names them" : "it does so itself"), hint};
  hit.severity = diag::Severity::note;
  return {std::move(hit)};
}

} // namespace launch_missing_srun

Rule rule_launch_missing_srun() {
  using namespace launch_missing_srun;
  return {
      .id = "launch/missing-srun",
      .severity = diag::Severity::warning,
      .title = "Several nodes without srun",
      .why =
          "Slurm runs the batch script on the first node. Without srun (or mpirun, ibrun) the other nodes of "
          "the job stay idle and are paid for, and a "
          "program that waits for them never starts.",
      .link = "https://slurm.schedmd.com/srun.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --gpus-per-node=4
torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
