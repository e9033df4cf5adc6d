// SPDX-License-Identifier: MIT
// A step whose exit code the pipe after it hides.
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_pipe_status {

/// True if the launch is a step, starts a launcher, or runs a python program, not a line of it, that nothing
/// is piped into.
bool is_work(std::string_view text, const Launch& launch) {
  if (launch.chain.front().program == "srun" || launch.agent()) return true;
  const auto* python = launch.python();
  if (!python || !does_work(launch)) return false;
  if (python->module.empty() && python->operands[0].text().find(".py") == std::string::npos) return false;
  const auto before = text.substr(0, launch.command->place.offset).find_last_not_of(" \t\\\n");
  return before == std::string_view::npos || text[before] != '|';
}

/// True if the next command of the pipeline, after the byte, only shows what comes.
bool is_shown(std::string_view text, std::size_t end) {
  const auto pipe = text.find_first_not_of(" \t", end);
  if (pipe == std::string_view::npos || text[pipe] != '|' || text.substr(pipe, 2) == "||") return false;
  const auto next = text.find_first_not_of("|& \t", pipe);
  if (next == std::string_view::npos) return false;
  return text.substr(next, 4) == "tee " || text.substr(next, 5) == "tail ";
}

RuleMatches find(const LintContext& subject) {
  if (subject.text.find("pipefail") != std::string_view::npos ||
      subject.text.find("PIPESTATUS") != std::string_view::npos)
    return {};
  for (const auto& launch : subject.launches) {
    const auto& command = *launch.command;
    const auto& context = command.context;
    if (!context.pipeline || context.substitution || context.inexact || command.parent ||
        !is_work(subject.text, launch) ||
        !is_shown(subject.text, command.place.offset + command.place.length))
      continue;
    const bool step = launch.chain.front().program == "srun";
    return {{command.place,
             fmt::format("the pipeline hides whether this {} failed", step ? "step" : "program"),
             fmt::format("add set -{} pipefail above{}", context.errexit ? "o" : "eo",
                         step ? ", or use srun --output" : "")}};
  }
  return {};
}

} // namespace safety_pipe_status

Rule rule_safety_pipe_status() {
  using namespace safety_pipe_status;
  return {
      .id = "safety/pipe-status",
      .severity = diag::Severity::note,
      .title = "Exit code hidden by a pipeline",
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
