// SPDX-License-Identifier: MIT
// Directives that sbatch never reads, because a command is before them.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_after_command {

bool is_directive(std::string_view line) {
  const auto first = line.find_first_not_of(" \t", 7);
  return line.starts_with("#SBATCH") && first != std::string_view::npos && line[first] == '-';
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  // What only writes job scripts in another language is none itself.
  if (!is_shell_script(subject.text) && subject.header.directives.empty()) return hits;
  for (std::size_t at = subject.header.end; at < subject.text.size();) {
    const auto end = std::min(subject.text.find('\n', at), subject.text.size());
    // In a here-document or a quoted text it is part of another script.
    if (const auto line = subject.text.substr(at, end - at); is_directive(line) && !subject.is_in_text(at))
      hits.push_back({{at, line.size()},
                      "sbatch stops reading at the first command, so this directive has no effect",
                      "move it above the first command"});
    at = end + 1;
  }
  return hits;
}

} // namespace slurm_after_command

Rule rule_slurm_after_command() {
  using namespace slurm_after_command;
  return {
      .id = "slurm/after-command",
      .severity = diag::Severity::warning,
      .title = "Directive after the first command",
      .why = "sbatch stops at the first line that is neither empty nor a comment and drops later directives "
             "silently: the job runs with default nodes, time and memory.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_DESCRIPTION",
      .bad = {R"(#!/bin/bash
set -e
#SBATCH --nodes=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2
set -e
)"},
      .find = find,
  };
}

} // namespace hpcml::check
