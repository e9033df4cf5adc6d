// SPDX-License-Identifier: MIT
// Data that the script removes before its program reads it.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_removed_data {

/// True if the command runs in any case, in the batch shell itself.
bool runs_always(const shell::Command& command) {
  const auto& context = command.context;
  return !command.parent && !context.condition && !context.loop && !context.background && !context.uncalled &&
         !context.unreached && !context.trap && !context.substitution && context.function.empty();
}

/// The path without what matches all of a directory's files: "data" of "data/" and of "data/*".
std::string_view directory_of(std::string_view path) {
  if (path.ends_with("/*")) path.remove_suffix(1);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path;
}

bool is_in(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

bool mentions(const shell::Command& command, std::string_view directory) {
  return std::any_of(command.words.begin(), command.words.end(),
                     [&](const auto& word) { return word.text().find(directory) != std::string::npos; });
}

/// The value of the first option of the program that names its input, if that is in the directory.
const shell::Argument* input_in(const Launch& launch, std::string_view directory) {
  static constexpr std::array<std::string_view, 9> k_options = {"--data",     "--data-dir",  "--data-path",
                                                                "--data_dir", "--data_path", "--data_root",
                                                                "--dataset",  "--input",     "--input_dir"};
  const auto& words = launch.command->words;
  const auto downloads = [](const auto& word) { return word.text().find("download") != std::string::npos; };
  if (std::any_of(words.begin(), words.end(), downloads)) return nullptr;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto text = words[i].text();
    const auto equals = text.find('=');
    if (!util::contains(k_options, std::string_view(text).substr(0, equals))) continue;
    if (equals != std::string::npos && is_in(std::string_view(text).substr(equals + 1), directory))
      return &words[i];
    if (equals == std::string::npos && i + 1 < words.size() && is_in(words[i + 1].text(), directory))
      return &words[i + 1];
  }
  return nullptr;
}

/// The program that reads the directory after the command; nothing if another command mentions it, or changes
/// where it is, before.
const Launch* find_reader(const LintContext& subject, const shell::Command& removal,
                          std::string_view directory) {
  for (const auto& launch : subject.launches) {
    if (launch.command <= &removal) continue;
    if (input_in(launch, directory) && runs_always(*launch.command) && does_work(launch)) return &launch;
    if (is_program(*launch.command, "cd") || mentions(*launch.command, directory) || !is_utility(launch))
      return nullptr;
  }
  return nullptr;
}

/// True if the command removes directories.
bool removes(const shell::Command& command) {
  return is_program(command, "rm") && runs_always(command) &&
         std::any_of(command.words.begin(), command.words.end(), [](const auto& word) {
           const auto text = word.prefix();
           return text.starts_with('-') && text.find_first_of("rR") != std::string::npos;
         });
}

RuleMatches find(const LintContext& subject) {
  constexpr std::size_t k_shortest = 3;
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    if (!removes(command)) continue;
    for (const auto& word : command.arguments()) {
      const auto path = word.text();
      const auto directory = directory_of(path);
      if (directory.size() < k_shortest || path.starts_with('-')) continue;
      const auto* reader = find_reader(subject, command, directory);
      if (!reader) continue;
      hits.add({input_in(*reader, directory)->place,
                fmt::format("{} is removed before the program reads it", directory),
                "move rm below the program, or remove another directory"});
    }
  }
  return hits;
}

} // namespace safety_removed_data

Rule rule_safety_removed_data() {
  using namespace safety_removed_data;
  return {
      .id = "safety/removed-data",
      .severity = diag::Severity::warning,
      .title = "Data removed before it is read",
      .why = "A directory that rm -r has removed no longer exists when the program starts: it fails, or "
             "finds no "
             "files and trains on nothing. Often the copy was meant, or the line is one of the clean-up.",
      .link = "https://www.gnu.org/software/coreutils/manual/html_node/rm-invocation.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
cp -r data $SLURM_TMPDIR/
rm -rf $SLURM_TMPDIR/*
python train.py --data_dir $SLURM_TMPDIR/data
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
rm -rf $SLURM_TMPDIR/*
cp -r data $SLURM_TMPDIR/
python train.py --data_dir $SLURM_TMPDIR/data
)"},
      .find = find,
  };
}

} // namespace hpcml::check
