// SPDX-License-Identifier: MIT
#include "check/node_reach.hpp"

#include <algorithm>
#include <array>

#include "check/launch_facts.hpp"
#include "check/remote_shell.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

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

} // namespace

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

namespace {

/// Whether the word describes MPI: "openmpi/4.0.5", "mpi_ranks"; not "compiler" or "empirical".
bool names_mpi(const std::string& text) {
  for (auto at = text.find("mpi"); at != std::string::npos; at = text.find("mpi", at + 1))
    if (at + 3 >= text.size() || (text[at + 3] != 'l' && text[at + 3] != 'r' && text[at + 3] != 'n'))
      return true;
  return false;
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

} // namespace

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

namespace {

/// True if the command is `eval "$(conda shell.bash hook)"`, which sets up the shell and starts nothing.
bool is_hook(const shell::Command& command) {
  const auto words = command.arguments();
  return command.name() == "eval" && !words.empty() && words[0].text().find(" hook") != std::string::npos;
}

} // namespace

bool may_reach_nodes(const Launch& launch) {
  if (launch.step()) return true;
  if (is_hook(*launch.command)) return false;
  if (is_remote_shell(*launch.command)) return starts_on_nodes(*launch.command);
  if (const auto* agent = launch.agent();
      agent && find_any(*agent, {"hostfile", "H", "host", "launcher", "deepspeed_hostfile"}))
    return true; // by ssh, srun or MPI
  if (launch.python() && (starts_nodes(*launch.python()) || has_node_count(launch))) return true;
  return !is_utility(launch) && launch.last().program != "python" && !launch.agent() && !launch.container();
}

bool shows_all_programs(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  const auto skipped = std::count_if(commands.begin(), commands.end(), [&](const auto& command) {
    return command.calls_function || command.context.uncalled || command.context.unreached ||
           (!command.program && command.parent && is_hook(commands[*command.parent]));
  });
  return subject.listing.complete &&
         commands.size() == subject.launches.size() + static_cast<std::size_t>(skipped);
}

} // namespace hpcml::check
