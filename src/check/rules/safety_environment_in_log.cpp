// SPDX-License-Identifier: MIT
// Environments that end up in logs.
#include "check/rule.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_environment_in_log {

/// True if the command prints all variables: `printenv`, `env`, `export -p`.
bool prints_all(const shell::Command& command) {
  const auto written = command.words.size();
  if (written == 2) return is_program(command, "export") && command.words[1].text() == "-p";
  if (written != 1) return false;
  // `env` alone is taken for a prefix without a program.
  const auto& pieces = command.words[0].pieces;
  return is_program(command, "printenv") || (pieces.size() == 1 && pieces[0].text == "env");
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.header.directives.empty()) return hits;
  for (const auto& command : subject.listing.commands) {
    const auto& context = command.context;
    if (!prints_all(command) || !command.redirects.empty() || context.pipeline || context.substitution ||
        context.uncalled || context.condition || !first_work(subject))
      continue;
    hits.add({command.place, "this writes all variables into the log, also keys and tokens",
              "use printenv | grep ^SLURM_, or the names that you need"});
  }
  return hits;
}

} // namespace safety_environment_in_log

Rule rule_safety_environment_in_log() {
  using namespace safety_environment_in_log;
  return {
      .id = "safety/environment-in-log",
      .severity = diag::Severity::note,
      .title = "Whole environment in the log",
      .why = "The environment of a job often has keys: WANDB_API_KEY, HF_TOKEN, passwords of proxies. "
             "printenv writes them into the log, which others can read or which ends up in a bug report.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_export",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
printenv
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
printenv | grep ^SLURM_
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
