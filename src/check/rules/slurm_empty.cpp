// SPDX-License-Identifier: MIT
// A script without any command, or whose programs are all commented out.
#include <algorithm>
#include <array>

#include "check/launch_facts.hpp"
#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_empty {

/// True if the command prepares or prints only.
bool runs_no_program(const shell::Command& command) {
  static constexpr std::array<std::string_view, 17> k_names = {
      "[",  "[[",     "cd",     "conda", "date", "declare", "echo",   "export", "mkdir",
      "ml", "module", "printf", "pwd",   "set",  "test",    "ulimit", "unset"};
  const auto name = command.name();
  if (name && *name == "conda" && has_word(command.arguments(), "run")) return false; // conda run python
  return name && !command.calls_function &&
         std::binary_search(k_names.begin(), k_names.end(), std::string_view(*name));
}

/// True if the comment is a command that starts a program: "# srun python train.py".
bool is_disabled_launch(std::string_view line) {
  static constexpr std::array<std::string_view, 8> k_programs = {
      "accelerate", "deepspeed", "mpirun", "python", "python3", "singularity", "srun", "torchrun"};
  const auto text = util::trim(line);
  if (!text.starts_with('#') || text.starts_with("#!") || text.starts_with("#SBATCH")) return false;
  const auto words = util::split(util::trim(std::string_view(text).substr(1)), ' ');
  if (words.size() < 2) return false;
  for (const auto& word : words) {
    if (std::binary_search(k_programs.begin(), k_programs.end(), std::string_view(word)))
      return text.find(".py") != std::string::npos || text.find(" -") != std::string::npos;
    if (word.find('=') == std::string::npos) return false;
  }
  return false;
}

/// Reports the first command that is commented out, if the script starts no program.
RuleMatches find(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  if (subject.header.directives.empty() || commands.empty() || !subject.listing.complete ||
      !subject.unread.empty() || !is_shell_script(subject.text) ||
      !std::all_of(commands.begin(), commands.end(), runs_no_program))
    return {};
  for (std::size_t at = subject.header.end; at < subject.text.size();) {
    const auto line = line_at(subject.text, at);
    at = next_line(subject.text, at);
    if (is_disabled_launch(subject.text.substr(line.offset, line.length)) && !subject.is_in_text(line.offset))
      return {{line,
               "the script starts no program: this command is a comment",
               "remove the # before it",
               {},
               diag::Severity::warning}};
  }
  return {};
}

} // namespace slurm_empty

Rule rule_slurm_empty() {
  return {
      .id = "slurm/empty",
      .severity = diag::Severity::error,
      .title = "Empty script",
      .why = "sbatch refuses a file that is empty or holds only whitespace, before anything is queued; often "
             "the file was not written to the end, or the name is wrong. It runs a script whose programs are "
             "all comments, and the job ends at once without an error.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(
)"},
      .good = {R"(#!/bin/bash
)"},
      .find = slurm_empty::find,
  };
}

} // namespace hpcml::check
