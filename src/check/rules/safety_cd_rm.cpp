// SPDX-License-Identifier: MIT
// rm in a directory that cd may not have reached.
#include <algorithm>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"

namespace hpcml::check {
namespace safety_cd_rm {

bool has_any(const shell::Command& command, std::initializer_list<std::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](auto text) { return has_word(command.arguments(), text); });
}

/// True if the command removes all files of the directory in which it runs: `rm *`, `find . -delete`.
bool removes_everything(const shell::Command& command) {
  if (is_program(command, "rm")) return has_any(command, {"*", "./*"});
  const auto words = command.arguments();
  return is_program(command, "find") && words.size() == 2 && words[0].text() == "." &&
         words[1].text() == "-delete";
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const shell::Command* cd = nullptr;
  for (const auto& command : subject.listing.commands) {
    if (is_program(command, "cd") || is_program(command, "pushd"))
      cd = command.context.condition || command.context.uncalled ? nullptr : &command;
    if (!cd || command.context.uncalled || !removes_everything(command)) continue;
    // After "cd … &&" or "cd … || exit" it is safe.
    const auto end = cd->place.offset + cd->place.length;
    if (is_in_list(subject, *cd) || cd->context.errexit) continue;
    hits.push_back({cd->place,
                    "if this cd fails, the rm below deletes the directory that the job was submitted from",
                    "use: cd … || exit 1",
                    {{end, 0, " || exit 1"}}});
    cd = nullptr;
  }
  return hits;
}

} // namespace safety_cd_rm

Rule rule_safety_cd_rm() {
  using namespace safety_cd_rm;
  return {
      .id = "safety/cd-rm",
      .severity = diag::Severity::warning,
      .title = "rm after a cd that may fail",
      .why =
          "When the directory does not exist, cd fails, the script continues where it was submitted, and rm "
          "-rf * deletes that instead.",
      .link = "https://www.shellcheck.net/wiki/SC2164",
      .bad = {R"(#!/bin/bash
cd $SCRATCH/run
rm -rf *
)"},
      .good = {R"(#!/bin/bash
cd $SCRATCH/run || exit 1
rm -rf *
)"},
      .find = find,
  };
}

} // namespace hpcml::check
