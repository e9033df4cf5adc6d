// SPDX-License-Identifier: MIT
// Steps in the background without a `wait`.
#include <algorithm>
#include <array>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_background_step {

/// Commands that end at once.
constexpr std::array<std::string_view, 26> k_short = {
    "echo", "printf", "date",    "true",     ":",        "export", "cd",       "set",  "unset",
    "trap", "mkdir",  "[",       "[[",       "hostname", "test",   "scontrol", "head", "sed",
    "cut",  "which",  "typeset", "basename", "dirname",  "tr",     "awk",      "seq"};

/// Whether the program is the job's work: a step, a launcher or a python script.
bool is_work(const Launch& launch) {
  const auto* python = launch.python();
  return launch.chain.front().program == "srun" || launch.chain.front().role == launch_chain::Role::agent ||
         (launch.chain.size() == 1 && python && !python->operands.empty() &&
          python->operands[0].text().find(".py") != std::string::npos);
}

/// The last program of the job's work that the script starts in the background; nothing where none is.
const Launch* last_in_background(const LintContext& subject) {
  const Launch* last = nullptr;
  for (const auto& launch : subject.launches) {
    const auto& context = launch.command->context;
    if (context.background && !context.inexact && context.script.empty() && !launch.command->parent &&
        is_work(launch))
      last = &launch;
  }
  return last;
}

/// True if the command may take its time after the program, or waits for it.
bool keeps_script(const shell::Command& command, const shell::Command& program) {
  if (&command == &program || command.parent) return false;
  const auto name = command.name();
  if (name == "wait") return true;
  const bool is_later = &command > &program || command.context.loop; // also after a function's body
  if (!is_later || command.context.uncalled || command.context.background) return false;
  return !name || !util::contains(k_short, std::string_view(*name));
}

/// True if the text has a loop that may continue until something is done.
bool has_open_loop(std::string_view text) {
  const bool counts = text.find("((") != std::string_view::npos;
  return (text.find("while ") != std::string_view::npos && !counts) ||
         text.find("until ") != std::string_view::npos || text.find("<(") != std::string_view::npos;
}

RuleMatches find(const LintContext& subject) {
  if (!subject.listing.complete || !subject.listing.unread.empty()) return {};
  const auto* last = last_in_background(subject);
  const auto& commands = subject.listing.commands;
  if (!last ||
      std::any_of(commands.begin(), commands.end(),
                  [&](const auto& command) { return keeps_script(command, *last->command); }) ||
      has_open_loop(subject.text.substr(last->command->place.offset)))
    return {};
  return {{last->command->place,
           last->step() ? "the script ends without waiting for this step, which ends with the job"
                        : "the script ends without waiting for this program, which ends with the job",
           "add wait on a line at the end"}};
}

} // namespace safety_background_step

Rule rule_safety_background_step() {
  using namespace safety_background_step;
  return {
      .id = "safety/background-step",
      .severity = diag::Severity::warning,
      .title = "Background step without wait",
      .why =
          "The job ends when its script does. A step that was started with & and that nothing waits for is "
          "killed at that moment, "
          "usually before it has done anything.",
      .link = "https://slurm.schedmd.com/srun.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
srun -n1 ./a &
srun -n1 ./b &
)"},
      .good = {R"(#!/bin/bash
srun -n1 ./a &
srun -n1 ./b &
wait
)"},
      .find = find,
  };
}

} // namespace hpcml::check
