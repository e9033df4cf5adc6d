// SPDX-License-Identifier: MIT
// Commands that exec leaves no shell for.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_after_exec {

/// True if the command replaces the batch shell, whatever else happens.
bool replaces_shell(const shell::Command& command) {
  const auto& context = command.context;
  return command.program && !command.prefixes.empty() && util::contains(command.prefixes, "exec") &&
         !command.parent && !context.condition && !context.loop && !context.subshell && !context.background &&
         !context.pipeline && !context.substitution && !context.unreached && !context.guarded &&
         context.function.empty() && context.script.empty();
}

RuleMatches find(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  const auto exec = std::find_if(commands.begin(), commands.end(), replaces_shell);
  if (exec == commands.end()) return {};
  const auto end = exec->place.offset + exec->place.length;
  const auto next = std::find_if(exec, commands.end(), [&](const shell::Command& command) {
    return !command.parent && command.context.unreached && command.place.offset >= end &&
           command.name() != "exit";
  });
  if (next == commands.end() || is_in_list(subject, *exec)) return {};
  return {
      {next->place,
       fmt::format("this never runs: exec replaces the shell with {}", exec->name().value_or("the program")),
       "remove exec, or this line"}};
}

} // namespace safety_after_exec

Rule rule_safety_after_exec() {
  using namespace safety_after_exec;
  return {
      .id = "safety/after-exec",
      .severity = diag::Severity::warning,
      .title = "Command after exec",
      .why = "exec replaces the shell with the program, so the commands after it never run: nothing is "
             "copied, printed or checked when the program ends.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Bourne-Shell-Builtins.html",
      .bad = {R"(#!/bin/bash
exec python train.py
cp -r results $HOME
)"},
      .good = {R"(#!/bin/bash
python train.py
cp -r results $HOME
)"},
      .find = find,
  };
}

} // namespace hpcml::check
