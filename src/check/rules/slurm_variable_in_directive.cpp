// SPDX-License-Identifier: MIT
// Shell variables in directives, which are not expanded.
#include "check/deduplicate.hpp"
#include "check/rule.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace slurm_variable_in_directive {

bool has_variable(const std::string& text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '$' && (text[i + 1] == '{' || text[i + 1] == '(' || util::is_name_start(text[i + 1])))
      return true;
  return false;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& directive : subject.header.directives)
    for (const auto& word : directive.words)
      if (has_variable(word.text))
        hits.push_back(
            {word.place,
             fmt::format("nothing is expanded in a directive, so '{}' is used literally", word.text),
             "set the value itself, use Slurm's patterns (%x name, %j job id, %u user) in file names, or use "
             "the option on the command line"});
  return hits;
}

/// True if sbatch refuses the value in which the variable is.
bool is_in_refused_value(const FindingPair& pair) {
  return pair.stronger.what.severity == diag::Severity::error && refuses_value(pair.stronger, "") &&
         (overlap(pair) || is_tail(pair));
}

void explain(const Finding& own, Finding& refusal) {
  refusal.what.message += ": nothing is expanded in a directive";
  refusal.what.hint = own.what.hint;
}

} // namespace slurm_variable_in_directive

Rule rule_slurm_variable_in_directive() {
  using namespace slurm_variable_in_directive;
  return {
      .id = "slurm/variable-in-directive",
      .severity = diag::Severity::warning,
      .title = "Shell variable in a directive",
      .why = "Directives are comments to the shell: $HOME/logs becomes a directory of that name below the "
             "working directory, and the job fails when the log cannot be opened.",
      .link = "https://slurm.schedmd.com/sbatch.html#SECTION_%3CB%3Efilename-pattern%3C/B%3E",
      .bad = {R"(#!/bin/bash
#SBATCH --output=$HOME/x.log
)"},
      .good = {R"(#!/bin/bash
#SBATCH --output=%x-%j.log
)"},
      .find = find,
      .yields_to = {{"slurm/", is_in_refused_value, explain}},
  };
}

} // namespace hpcml::check
