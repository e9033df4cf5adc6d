// SPDX-License-Identifier: MIT
// A job of several nodes whose program runs on the first one only.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/remote_shell.hpp"
#include "core/model/launcher.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_missing_srun {

/// True if the program's name is that of a search, which often starts each trial as a separate job step:
/// "hpo_train.py", "run_sweep.py"; not "finetune.py", "fine_tune.py", "research.py".
bool names_search(const std::string& name) {
  static constexpr std::array<std::string_view, 12> k_searches = {"hpo",   "hyperopt", "optuna",     "tune",
                                                                  "tuner", "tuning",   "gridsearch", "search",
                                                                  "sweep", "study",    "trials",     "nas"};
  std::string words = name;
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c < 'a' || c > 'z'; }, ' ');
  std::string before;
  for (const auto& word : util::split(words, ' ')) {
    if (before != "fine" && std::find(k_searches.begin(), k_searches.end(), word) != k_searches.end())
      return true;
    before = word;
  }
  return false;
}

/// Whether the program starts others on other nodes by its name or its words: a launcher, a search, or who
/// gets a list of hosts or the job's number of nodes.
bool starts_nodes(const Link& python) {
  static constexpr std::array<std::string_view, 7> k_names = {"deepy", "launch", "submit",  "driver",
                                                              "sched", "ray",    "orchestr"};
  static constexpr std::array<std::string_view, 6> k_words = {"hostfile", "machinefile", "nodelist",
                                                              "--hosts",  "hostlist",    "--launcher"};
  if (python.operands.empty()) return false;
  const auto path = util::to_lower(python.operands[0].text());
  const auto name = util::base_name(path);
  const auto has = [](const std::string& text) {
    return [&text](std::string_view sign) { return text.find(sign) != std::string::npos; };
  };
  if (std::any_of(k_names.begin(), k_names.end(), has(name)) || names_search(name)) return true;
  return std::any_of(python.operands.begin() + 1, python.operands.end(), [&](const auto& word) {
    if (reading_piece(word, {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NODELIST", "SLURM_JOB_NODELIST"}))
      return true;
    const auto text = util::to_lower(word.text());
    return std::any_of(k_words.begin(), k_words.end(), has(text));
  });
}

/// Whether the word describes MPI: "openmpi/4.0.5", "mpi_ranks"; not "compiler" or "empirical".
bool names_mpi(const std::string& text) {
  for (auto at = text.find("mpi"); at != std::string::npos; at = text.find("mpi", at + 1))
    if (at + 3 >= text.size() || (text[at + 3] != 'l' && text[at + 3] != 'r' && text[at + 3] != 'n'))
      return true;
  return false;
}

/// Whether the job loads an MPI: a python program of such a job may call its launcher itself.
bool loads_mpi(const LintContext& subject) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    const auto& last = launch.last();
    return (last.program == "module" || last.program == "ml") &&
           std::any_of(last.operands.begin(), last.operands.end(), [](const auto& word) {
             const auto text = util::to_lower(word.text());
             return names_mpi(text) || text.find("mvapich") != std::string::npos;
           });
  });
}

/// True if the program's arguments have more GPUs than a node, or MPI, whose launcher it may start itself.
bool has_node_count(const Launch& launch) {
  constexpr unsigned long long k_most_gpus = 16;
  const auto& words = launch.last().operands;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto text = util::to_lower(words[i].text());
    const auto equals = text.find('=');
    if (text.substr(0, equals).find("gpus") != std::string::npos) {
      const auto next = i + 1 < words.size() ? words[i + 1].text() : std::string();
      const auto count = util::parse_unsigned(equals == std::string::npos ? next : text.substr(equals + 1));
      if (count && *count > k_most_gpus) return true;
    }
    if (names_mpi(text)) return true;
  }
  const auto* exports = launch.command->exports.get();
  return exports && std::any_of(exports->begin(), exports->end(), [](const auto& variable) {
           const auto name = util::to_lower(variable->name);
           return names_mpi(name) || name.find("_ranks") != std::string::npos;
         });
}

/// True if the program may reach other nodes by itself, or if the script does not show what it does.
bool may_reach_nodes(const Launch& launch) {
  if (launch.step()) return true;
  if (is_remote_shell(*launch.command)) return starts_on_nodes(*launch.command);
  if (const auto* agent = launch.agent();
      agent && find_any(*agent, {"hostfile", "H", "host", "launcher", "deepspeed_hostfile"}))
    return true; // by ssh, srun or MPI
  if (launch.python() && (starts_nodes(*launch.python()) || has_node_count(launch))) return true;
  return !is_utility(launch) && launch.last().program != "python" && !launch.agent() && !launch.container();
}

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
  for (auto parent = launch.command->parent; parent; parent = subject.view.commands[*parent].parent) {
    const auto name = subject.view.commands[*parent].name();
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

/// True if the program of every command of the script is known.
bool shows_all_programs(const LintContext& subject) {
  const auto& commands = subject.view.commands;
  const auto skipped = std::count_if(commands.begin(), commands.end(), [](const auto& command) {
    return command.calls_function || command.context.uncalled || command.context.unreached;
  });
  return subject.view.complete &&
         commands.size() == subject.launches.size() + static_cast<std::size_t>(skipped);
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
