// SPDX-License-Identifier: MIT
// A step whose exit code the pipe after it hides.
#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_pipe_status {

RuleMatches find(const LintContext& subject) {
  if (subject.text.find("pipefail") != std::string_view::npos ||
      subject.text.find("PIPESTATUS") != std::string_view::npos)
    return {};
  for (const auto& launch : subject.launches) {
    const auto& context = launch.command->context;
    if (!context.pipeline || context.substitution || context.inexact || launch.command->parent ||
        (launch.chain.front().program != "srun" && !launch.agent()))
      continue;
    const auto behind =
        subject.text.find_first_not_of(" \t", launch.command->place.offset + launch.command->place.length);
    if (behind == std::string_view::npos || subject.text[behind] != '|' ||
        subject.text.substr(behind, 2) == "||")
      continue;
    const auto next = subject.text.find_first_not_of("|& \t", behind);
    if (next != std::string_view::npos && subject.text.substr(next, 4) == "tee ")
      return {{launch.command->place, "the pipeline hides whether this step failed",
               "add set -o pipefail above, or use srun --output"}};
  }
  return {};
}

} // namespace safety_pipe_status

Rule rule_safety_pipe_status() {
  using namespace safety_pipe_status;
  return {
      .id = "safety/pipe-status",
      .severity = diag::Severity::note,
      .title = "Exit code of a step hidden by a pipeline",
      .why = "The exit code of a pipeline is its last command's: srun … | tee log is a success when tee was, "
             "also for set -e and for "
             "--dependency=afterok.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/The-Set-Builtin.html",
      .bad = {R"(#!/bin/bash
srun python train.py | tee log
)"},
      .good = {R"(#!/bin/bash
set -o pipefail
srun python train.py | tee log
)"},
      .find = find,
  };
}

} // namespace hpcml::check
