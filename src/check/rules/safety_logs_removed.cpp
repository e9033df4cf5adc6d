// SPDX-License-Identifier: MIT
// Jobs that delete the logs of jobs.
#include <algorithm>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_logs_removed {

bool names_logs(const shell::Argument& word) {
  const auto text = util::base_name(word.text());
  return text.starts_with("slurm-*") || text.starts_with("slurm*") || text.starts_with("slurm-?");
}

/// True if the command deletes files: rm, or find with an action that does.
bool deletes(const shell::Command& command) {
  if (is_program(command, "rm")) return true;
  return is_program(command, "find") &&
         (has_word(command.arguments(), "-delete") ||
          (has_word(command.arguments(), "-exec") && has_word(command.arguments(), "rm")));
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    if (command.context.uncalled || command.context.unreached || !deletes(command)) continue;
    const auto words = command.arguments();
    if (std::any_of(words.begin(), words.end(), names_logs))
      hits.add({command.place, "this deletes the logs of all jobs of the directory, also of running ones",
                "remove this line, or delete old logs before sbatch"});
  }
  return hits;
}

} // namespace safety_logs_removed

Rule rule_safety_logs_removed() {
  using namespace safety_logs_removed;
  return {
      .id = "safety/logs-removed",
      .severity = diag::Severity::note,
      .title = "Logs of other jobs removed",
      .why = "slurm-*.out is the log of every job that was submitted from this directory. The job deletes "
             "its own log and those of running jobs, whose output is then lost.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_output",
      .bad = {R"(#!/bin/bash
rm -f slurm-*.out
python train.py
)"},
      .good = {R"(#!/bin/bash
rm -f result.txt
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
