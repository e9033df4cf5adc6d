// SPDX-License-Identifier: MIT
// Arguments of the script that are split again.
#include <optional>

#include "check/rule.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_unquoted_arguments {

/// Where the word is $@ without quotes.
std::optional<diag::TextRange> find_bare(std::string_view text, const shell::Argument& word) {
  if (word.pieces.size() != 1 || word.pieces[0].known || word.pieces[0].text != "$@") return std::nullopt;
  const auto at = word.pieces[0].place.offset;
  const bool alone = at > 0 && at + 2 <= text.size() && text.substr(at, 2) == "$@" &&
                     (text[at - 1] == ' ' || text[at - 1] == '\t');
  return alone ? std::optional(diag::TextRange{at, 2}) : std::nullopt;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  if (text.find("$@") == std::string_view::npos || !is_shell_script(text)) return hits;
  for (const auto& launch : subject.launches) {
    const auto& command = *launch.command;
    if (!does_work(launch) || command.parent || !command.context.script.empty()) continue;
    for (const auto& word : command.words)
      if (const auto place = find_bare(text, word))
        hits.add({*place,
                  "without quotes, arguments with spaces are split",
                  "use \"$@\"",
                  {{place->offset, 2, "\"$@\""}}});
  }
  return hits;
}

} // namespace safety_unquoted_arguments

Rule rule_safety_unquoted_arguments() {
  using namespace safety_unquoted_arguments;
  return {
      .id = "safety/unquoted-arguments",
      .severity = diag::Severity::note,
      .title = "$@ without quotes",
      .why = "Without quotes bash splits the arguments of the script at spaces and expands * in them: --name "
             "\"two words\" reaches the program as three arguments.",
      .link = "https://www.shellcheck.net/wiki/SC2068",
      .bad = {R"(#!/bin/bash
srun python train.py $@
)"},
      .good = {R"(#!/bin/bash
srun python train.py "$@"
)"},
      .find = find,
  };
}

} // namespace hpcml::check
