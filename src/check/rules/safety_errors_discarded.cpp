// SPDX-License-Identifier: MIT
// Programs whose error messages go nowhere.
#include <algorithm>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"

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

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.text.find("/dev/null") == std::string_view::npos) return hits;
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
             "failed training leaves no message that explains it.",
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
