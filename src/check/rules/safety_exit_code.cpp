// SPDX-License-Identifier: MIT
// A last command that hides whether the step failed.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_exit_code {

constexpr std::array<std::string_view, 4> k_always_well = {"echo", "date", "printf", "true"};

/// Whether the words up to the place only print: `echo "exit code: $?"`.
bool is_printed(std::string_view text, std::size_t at) {
  const auto line = line_at(text, at);
  const auto before = text.substr(line.offset, at - line.offset);
  const auto command = util::trim(before.substr(before.find_last_of(";&|") + 1));
  return command.starts_with("echo ") || command.starts_with("printf ");
}

/// Whether the script uses an exit code for anything but printing it, also by a variable that it is put in.
bool uses_codes(std::string_view text) {
  for (auto at = text.find("$?"); at != std::string_view::npos; at = text.find("$?", at + 2)) {
    if (is_printed(text, at)) continue;
    if (at == 0 || text[at - 1] != '=') return true;
    auto begin = at - 1;
    while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
    const auto name = std::string(text.substr(begin, at - 1 - begin));
    if (name.empty()) return true;
    for (const auto& use : {"$" + name, "${" + name})
      for (auto found = text.find(use); found != std::string_view::npos; found = text.find(use, found + 1))
        if (!is_printed(text, found)) return true;
  }
  return false;
}

/// Whether the script does anything about exit codes.
bool looks_at_codes(const LintContext& subject) {
  const auto text = subject.text;
  if (uses_codes(text)) return true;
  for (const std::string_view sign : {"PIPESTATUS", "errexit", "||", "&&", "trap "})
    if (text.find(sign) != std::string_view::npos) return true;
  if (shebang_line(text).find(" -e") != std::string_view::npos ||
      shebang_line(text).find("sh") == std::string_view::npos)
    return true;
  return std::any_of(
      subject.view.commands.begin(), subject.view.commands.end(), [](const shell::Command& command) {
        if (command.name() != "set") return false;
        const auto words = command.arguments();
        return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
          const auto option = word.text();
          return !word.known() ||
                 (option.size() > 1 && option[0] == '-' && option.find('e') != std::string::npos);
        });
      });
}

RuleMatches find(const LintContext& subject) {
  if (!subject.view.complete || !subject.view.unread.empty() || subject.view.commands.empty()) return {};
  const shell::Command* last = nullptr;
  for (const auto& command : subject.view.commands)
    if (!command.parent && !command.context.uncalled && !command.context.unreached &&
        !command.context.substitution && !command.context.trap)
      last = &command;
  const auto name = last ? last->name() : std::nullopt;
  if (!name || last->context.condition || last->context.pipeline || !last->context.function.empty() ||
      std::find(k_always_well.begin(), k_always_well.end(), *name) == k_always_well.end() ||
      looks_at_codes(subject))
    return {};
  for (auto launch = subject.launches.rbegin(); launch != subject.launches.rend(); ++launch) {
    const auto& context = launch->command->context;
    if (launch->command->parent || !launch->step() || context.background || context.condition ||
        context.substitution || context.pipeline)
      continue;
    return {{last->place,
             fmt::format("the job is COMPLETED even if {} fails: only the last command counts",
                         launch->chain.front().program),
             "add set -e above, or end with exit $code and set code=$? directly after the step"}};
  }
  return {};
}

} // namespace safety_exit_code

Rule rule_safety_exit_code() {
  using namespace safety_exit_code;
  return {
      .id = "safety/exit-code",
      .severity = diag::Severity::warning,
      .title = "Failed step reported as success",
      .why = "The job's state is the exit code of the script's last command. With echo after srun a training "
             "that crashed is COMPLETED, and --dependency=afterok starts the next job on nothing.",
      .link = "https://slurm.schedmd.com/job_exit_code.html",
      .bad = {R"(#!/bin/bash
srun python train.py
echo done
)"},
      .good = {R"(#!/bin/bash
set -e
srun python train.py
echo done
)"},
      .find = find,
  };
}

} // namespace hpcml::check
