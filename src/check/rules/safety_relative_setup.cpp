// SPDX-License-Identifier: MIT
// Relative paths without which the script works elsewhere.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_relative_setup {

/// True if the path is relative and may be missing: neither "..", which exists, nor one with a variable.
bool is_relative(const shell::Argument& word) {
  if (!word.known()) return false;
  const auto text = word.text();
  if (text.empty() || text[0] == '/' || text[0] == '~' || text[0] == '-') return false;
  return text.find_first_not_of("./") != std::string::npos;
}

/// The directory or file that the command needs; nothing where it needs none.
const shell::Argument* needed_path(const shell::Command& command, std::string_view name) {
  const auto words = command.arguments();
  if (name == "cd") return words.size() == 1 && is_relative(words[0]) ? &words[0] : nullptr;
  if ((name != "source" && name != ".") || words.empty() || !is_relative(words[0]) ||
      (words[0].text().find('/') == std::string::npos && !words[0].text().ends_with(".sh")))
    return nullptr;
  return &words[0];
}

/// True if the command changes the directory to one that does not depend on where sbatch was called.
bool goes_elsewhere(const shell::Command& command, std::string_view name) {
  const auto words = command.arguments();
  return (name == "cd" || name == "pushd") &&
         (words.empty() || !words[0].known() || words[0].text().starts_with('/'));
}

/// True if the program writes files into the directory in which it runs.
bool writes_files(const Launch& launch) {
  const auto& program = launch.last().program;
  return program == "curl" || program == "wget" || program == "tar" || program == "unzip";
}

/// True if the script mentions the path above: it may make it, or test for it.
bool is_mentioned_above(const LintContext& subject, const shell::Argument& word) {
  auto path = word.text();
  path = path.substr(0, path.find('/', path.starts_with("./") || path.starts_with("../") ? 3 : 0));
  const auto above = subject.text.substr(0, std::min(word.place.offset, subject.text.size()));
  return above.find(path, std::min(subject.header.end, above.size())) != std::string_view::npos;
}

/// True if the command always runs, in the batch shell itself.
bool is_certain(const shell::Command& command) {
  const auto& context = command.context;
  return !command.parent && !context.condition && !context.uncalled && !context.loop && !context.subshell &&
         context.function.empty();
}

/// True if a failure of the command has no effect on the work after it: the script stops, or tests for it.
bool is_harmless(const LintContext& subject, const shell::Command& command, const shell::Argument& path) {
  if (is_in_list(subject, command) || command.context.errexit || is_mentioned_above(subject, path))
    return true;
  return std::none_of(subject.launches.begin(), subject.launches.end(), [&](const Launch& launch) {
    return (does_work(launch) || writes_files(launch)) && launch.command->place.offset > command.place.offset;
  });
}

RuleMatches find(const LintContext& subject) {
  if (subject.header.directives.empty() || subject.requests.size() != 1 || subject.requests[0].has("chdir") ||
      !subject.listing.complete)
    return {};
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    if (!name || goes_elsewhere(command, *name)) return {};
    const auto* path = needed_path(command, *name);
    if (!path || !is_certain(command)) continue;
    if (is_harmless(subject, command, *path)) return {};
    return {{command.place,
             fmt::format("if {} is missing where sbatch was called, this fails and the script continues",
                         path->text()),
             fmt::format("use: {} {} || exit 1, or set -e above", *name, path->text())}};
  }
  return {};
}

} // namespace safety_relative_setup

Rule rule_safety_relative_setup() {
  using namespace safety_relative_setup;
  return {
      .id = "safety/relative-setup",
      .severity = diag::Severity::note,
      .title = "Setup relative to the directory of sbatch",
      .why = "A batch script runs in the directory in which sbatch was called. From another directory cd or "
             "source fails, and the script continues: with the python of the system, or with files of the "
             "wrong directory.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_chdir",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
source venv/bin/activate
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
source venv/bin/activate || exit 1
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
