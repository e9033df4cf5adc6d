// SPDX-License-Identifier: MIT
// Checkpoints in a directory that each node has for itself and loses.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <span>

#include "check/node_reach.hpp"
#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/node_local_path.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_local_checkpoint {

constexpr std::array<std::string_view, 14> k_options = {
    "--output_dir",      "--output-dir",       "--save",
    "--save_dir",        "--save-dir",         "--checkpoint_dir",
    "--checkpoint-dir",  "--ckpt_dir",         "--ckpt-dir",
    "--checkpoint",      "--default_root_dir", "--checkpoint_path",
    "--checkpoint-path", "--save_path"};

/// Whether something is copied from there before the job ends.
bool is_saved(const LintContext& subject) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    const auto& name = launch.last().program;
    return name == "cp" || name == "rsync" || name == "mv" || name == "tar" || name == "sgather" ||
           name == "scp" || name == "sbcast";
  });
}

/// True if the command copies files: to where they stay, if it comes after the work.
bool copies(const shell::Command& command) {
  const auto name = command.name();
  return !command.parent && !command.context.substitution && !command.context.uncalled &&
         !command.context.trap && (name == "cp" || name == "rsync" || name == "mv" || name == "tar");
}

/// `cd $TMPDIR` of the batch shell.
bool enters_local_directory(const shell::Command& command) {
  const auto words = command.arguments();
  return words.size() == 1 && is_program(command, "cd") && !command.parent && !command.context.uncalled &&
         util::is_node_local(words[0].text());
}

/// The directory of the node to which the script goes with `cd` before its work.
const shell::Argument* local_work_directory(const LintContext& subject, const shell::Command& work) {
  const shell::Argument* directory = nullptr;
  for (const auto& command : subject.listing.commands) {
    if (&command == &work) break;
    if (is_program(command, "cd") && !command.parent && !command.context.uncalled)
      directory = enters_local_directory(command) ? &command.arguments()[0] : nullptr;
  }
  return directory;
}

/// Reports work in a node's own directory whose results are copied after it only.
RuleMatches find_copied_late(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  if (std::none_of(commands.begin(), commands.end(), enters_local_directory)) return {};
  const auto* work = first_work(subject);
  if (!work || work->command->parent || subject.directive("signal") ||
      subject.text.find("trap ") != std::string_view::npos ||
      subject.text.find("timeout ") != std::string_view::npos)
    return {};
  const auto* directory = local_work_directory(subject, *work->command);
  if (!directory) return {};
  const auto copy = std::find_if(commands.begin(), commands.end(), [&](const shell::Command& command) {
    return copies(command) && command.place.offset > work->command->place.offset;
  });
  if (copy == commands.end() || copy->context.background) return {};
  return {
      {copy->place,
       fmt::format("results in {} are copied after the program only: the time limit ends the job before that",
                   directory->text()),
       "use #SBATCH --signal=B:TERM@300 and a trap that copies them, or write checkpoints to a shared "
       "directory",
       {},
       diag::Severity::note}};
}

/// A directory of the node in which a program writes its results.
struct LocalResults {
  std::string path;
  diag::TextRange place;
  const shell::Command* command = nullptr;
};

/// The directories that programs get by an option for results.
std::vector<LocalResults> find_local_results(const LintContext& subject) {
  std::vector<LocalResults> results;
  for (const auto& launch : subject.launches) {
    const auto& words = launch.command->words;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i].pieces.empty()) continue;
      const std::string_view head = words[i].pieces.front().text;
      const auto equals = head.find('=');
      if (!head.starts_with("--") || !util::contains(k_options, head.substr(0, equals)) ||
          (equals == std::string::npos && i + 1 >= words.size()))
        continue;
      const auto text = words[i].text();
      auto path = equals == std::string::npos ? words[i + 1].text() : text.substr(equals + 1);
      const auto& last = equals == std::string::npos ? words[i + 1] : words[i];
      if (util::is_node_local(path)) results.push_back({std::move(path), last.place, launch.command});
    }
  }
  return results;
}

/// True if another command than those that make, remove or print directories may use the results.
bool is_used_again(const LintContext& subject, const LocalResults& results) {
  static constexpr std::array<std::string_view, 6> k_no_use = {"cd", "echo", "export", "mkdir", "rm", "ls"};
  const auto directory = results.path.substr(0, results.path.find_last_not_of('/') + 1);
  return std::any_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    const auto& words = launch.command->words;
    return launch.command != results.command &&
           !util::contains(k_no_use, std::string_view(launch.last().program)) &&
           std::any_of(words.begin(), words.end(),
                       [&](const auto& word) { return word.text().find(directory) != std::string::npos; });
  });
}

/// Reports results of a job of one node that nothing copies.
RuleMatches find_lost(const LintContext& subject) {
  RuleMatches hits;
  const auto all = find_local_results(subject);
  if (all.empty() || subject.header.directives.empty() || !shows_all_programs(subject) || is_saved(subject) ||
      subject.text.find(":/tmp") != std::string_view::npos)
    return hits;
  constexpr std::size_t k_most = 100; // each is looked for among all commands
  for (const auto& results : std::span(all).first(std::min(all.size(), k_most)))
    if (!is_used_again(subject, results))
      hits.add({results.place,
                fmt::format("{} is removed after the job, and nothing copies the results from there",
                            results.path),
                "copy them at the end, also in a trap, or use a directory on a shared file system"});
  return hits;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.several_nodes().value_or(false)) {
    hits = find_copied_late(subject);
    return hits.empty() ? find_lost(subject) : hits;
  }
  if (is_saved(subject)) return hits;
  for (const auto& results : find_local_results(subject))
    hits.push_back(
        {results.place,
         fmt::format("{} is a different directory on each node and is removed after the job", results.path),
         "use a directory on a file system that all nodes share for checkpoints"});
  return hits;
}

} // namespace safety_local_checkpoint

Rule rule_safety_local_checkpoint() {
  using namespace safety_local_checkpoint;
  return {
      .id = "safety/local-checkpoint",
      .severity = diag::Severity::warning,
      .title = "Checkpoint in a node's own directory",
      .why = "/tmp, /dev/shm and $SLURM_TMPDIR belong to one node and are emptied when the job ends. In a "
             "job of "
             "several nodes each one writes a part that the others cannot read, and none is left to resume "
             "from.",
      .link = "https://docs.alliancecan.ca/wiki/Using_node-local_storage",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2
srun python train.py --output_dir /tmp/ckpt
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1
srun python train.py --output_dir /tmp/ckpt
cp -r /tmp/ckpt runs/
)"},
      .find = find,
  };
}

} // namespace hpcml::check
