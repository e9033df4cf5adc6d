// SPDX-License-Identifier: MIT
// Programs whose error messages go nowhere.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_errors_discarded {

/// True if standard error of the command is discarded.
bool discards_errors(const shell::Command& command) {
  return std::any_of(command.redirects.begin(), command.redirects.end(), [](const auto& redirect) {
    return redirect.target.text() == "/dev/null" &&
           ((redirect.fd == "2" && redirect.op.starts_with(">")) || redirect.op.starts_with("&>"));
  });
}

/// True if the launch runs a program whose messages matter: not a tool or a test of the environment.
bool trains(const Launch& launch) {
  if (!does_work(launch) || is_utility(launch) || launch.command->context.condition) return false;
  const auto* python = launch.python();
  return launch.agent() || launch.container() ||
         (python && python->module.empty() && python->operands[0].text().find(".py") != std::string::npos);
}

/// The assignment whose value is the output of the command, and whose exit code is that of its $(…).
const shell::Variable* setting_of(const LintContext& subject, diag::TextRange place) {
  const auto text = subject.text;
  for (const auto& setting : subject.listing.settings) {
    if (setting->value.words.size() != 1 || setting->set_at.offset + setting->set_at.length > text.size())
      continue;
    const auto* only = only_unknown_piece(setting->value.words[0]);
    if (!only || !only->text.starts_with("$(") || place.offset < only->place.offset ||
        place.offset >= only->place.offset + only->place.length)
      continue;
    const auto line = line_at(text, setting->set_at.offset);
    const auto end = setting->set_at.offset + setting->set_at.length;
    const bool alone = util::trim(text.substr(line.offset, setting->set_at.offset - line.offset)).empty() &&
                       util::trim(text.substr(end, next_line(text, end) - end)).find_first_of("|&") ==
                           std::string_view::npos;
    return alone && only->text.find("||") == std::string::npos ? setting.get() : nullptr;
  }
  return nullptr;
}

/// Reports `X=$(ls *.pt 2>/dev/null | tail -n 1)` where a failure ends the script.
void find_silent_ends(const LintContext& subject, RuleMatches& hits) {
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (!context.substitution || !context.errexit || (context.pipeline && !context.pipefail) ||
        context.uncalled || !context.function.empty() || command.parent ||
        !(is_program(command, "ls") || is_program(command, "grep")) || !discards_errors(command))
      continue;
    const auto* setting = setting_of(subject, command.place);
    if (setting)
      hits.add({command.place,
                fmt::format("the script ends here without a message if {} finds nothing", *command.name()),
                fmt::format("add || true before the closing parenthesis, and test ${} afterwards",
                            setting->name)});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.text.find("/dev/null") == std::string_view::npos) return hits;
  find_silent_ends(subject, hits);
  for (const auto& launch : subject.launches) {
    const auto* command = launch.command;
    if (!trains(launch)) continue;
    while (!discards_errors(*command) && command->parent)
      command = &subject.listing.commands[*command->parent];
    if (discards_errors(*command) && !command->context.substitution)
      hits.add({command->place, "the error messages of this program are discarded: no log explains a failure",
                "remove the redirect to /dev/null, or use a file"});
  }
  return hits;
}

} // namespace safety_errors_discarded

Rule rule_safety_errors_discarded() {
  using namespace safety_errors_discarded;
  return {
      .id = "safety/errors-discarded",
      .severity = diag::Severity::warning,
      .title = "Error messages of the work discarded",
      .why = "Python writes its stack trace to standard error, as do CUDA, NCCL and srun. With 2>/dev/null a "
             "failed training leaves no message that explains it. After set -e and pipefail, an ls that "
             "finds no file in X=$(ls *.pt 2>/dev/null | tail -n 1) ends the script, and nothing states why.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Redirections.html",
      .bad = {R"(#!/bin/bash
srun python train.py 2>/dev/null
)"},
      .good = {R"(#!/bin/bash
srun python train.py 2> errors-$SLURM_JOB_ID.log
)"},
      .find = find,
  };
}

} // namespace hpcml::check
