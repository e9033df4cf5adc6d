// SPDX-License-Identifier: MIT
// Steps in the background without a `wait`.
#include <algorithm>
#include <array>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_background_step {

/// Commands that end at once.
constexpr std::array<std::string_view, 14> k_short = {"echo",   "printf", "date",     "true",  ":",
                                                      "export", "cd",     "set",      "unset", "trap",
                                                      "mkdir",  "[",      "hostname", "test"};

RuleMatches find(const LintContext& subject) {
  if (!subject.view.complete || !subject.view.unread.empty()) return {};
  const Launch* last = nullptr;
  for (const auto& launch : subject.launches) {
    const auto& context = launch.command->context;
    if (launch.chain.front().program == "srun" && !launch.command->parent && context.background &&
        !context.inexact && context.script.empty())
      last = &launch;
  }
  if (!last) return {};
  for (const auto& command : subject.view.commands) {
    if (&command == last->command || command.parent) continue;
    const auto name = command.name();
    if (name == "wait") return {};
    const bool behind = command.place.offset > last->command->place.offset || command.context.loop;
    if (!behind || command.context.uncalled || command.context.background) continue;
    if (!name || std::find(k_short.begin(), k_short.end(), *name) == k_short.end())
      return {}; // takes its time, or may
  }
  const auto tail = subject.text.substr(last->command->place.offset);
  if (tail.find("while ") != std::string_view::npos || tail.find("until ") != std::string_view::npos ||
      tail.find("<(") != std::string_view::npos)
    return {};
  return {{last->command->place, "the script ends without waiting for this step, which ends with the job",
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
