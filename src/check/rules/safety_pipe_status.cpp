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
        launch.chain.front().program != "srun")
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
  return {"safety/pipe-status",
          diag::Severity::note,
          "Exit code of a step hidden by a pipeline",
          "The exit code of a pipeline is its last command's: srun … | tee log is a success when tee was, "
          "also for set -e and for "
          "--dependency=afterok.",
          "https://www.gnu.org/software/bash/manual/html_node/The-Set-Builtin.html",
          {R"(#!/bin/bash
srun python train.py | tee log
)",
           R"(#!/bin/bash
set -e
srun python train.py 2>&1 | tee -a log
)",
           R"(#!/bin/bash
srun ./a |& tee log
)"},
          {R"(#!/bin/bash
set -o pipefail
srun python train.py | tee log
)",
           R"(#!/bin/bash
srun --output=log python train.py
)",
           R"(#!/bin/bash
N=$(srun hostname | sort -u | wc -l)
)"},
          find};
}

} // namespace hpcml::check
