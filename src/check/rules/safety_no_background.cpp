// SPDX-License-Identifier: MIT
// $! in a script that starts nothing in the background.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_no_background {

/// True if something runs in the background, or if the script does not show what runs.
bool may_have_background(const LintContext& subject) {
  const auto& commands = subject.listing.commands;
  return !subject.listing.complete || !subject.unread.empty() ||
         subject.text.find("coproc") != std::string_view::npos ||
         subject.text.find(">(") != std::string_view::npos ||
         subject.text.find("<(") != std::string_view::npos ||
         std::any_of(commands.begin(), commands.end(), [](const shell::Command& command) {
           if (command.context.trap) return false; // has not run where $! is expanded
           return !command.program || command.context.background || command.context.inexact ||
                  command.name() == "source" || command.name() == ".";
         });
}

/// The first "$!" outside of comments, texts and single quotes.
std::size_t find_use(const LintContext& subject) {
  const auto text = subject.text;
  for (auto at = text.find("$!", subject.header.end); at != std::string_view::npos;
       at = text.find("$!", at + 1)) {
    const auto line = line_at(text, at);
    const auto before = text.substr(line.offset, at - line.offset);
    const bool quoted = std::count(before.begin(), before.end(), '\'') % 2 != 0 || before.ends_with('\\');
    if (!quoted && !subject.is_in_text(at) && !is_in_comment(text, at)) return at;
  }
  return std::string_view::npos;
}

RuleMatches find(const LintContext& subject) {
  if (!is_shell_script(subject.text)) return {};
  const auto use = find_use(subject);
  if (use == std::string_view::npos || may_have_background(subject)) return {};
  return {{{use, 2},
           "$! is empty: the script starts nothing in the background",
           "end the command of the program in &, or remove this"}};
}

} // namespace safety_no_background

Rule rule_safety_no_background() {
  using namespace safety_no_background;
  return {
      .id = "safety/no-background",
      .severity = diag::Severity::warning,
      .title = "$! without a background process",
      .why = "$! is the number of the last process that was started with &. Without one, wait $! returns at "
             "once, and a trap with kill $! sends no signal: the checkpoint is not written.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Special-Parameters.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
srun python train.py
wait $!
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
srun python train.py &
wait $!
)"},
      .find = find,
  };
}

} // namespace hpcml::check
