// SPDX-License-Identifier: MIT
// Assignments in the syntax of csh.
#include <fmt/format.h>

#include "check/rule.hpp"
#include "check/script_work.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_set_assignment {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    if (!is_program(command, "set")) continue;
    const auto words = command.arguments();
    if (!is_shell_script(subject.text) || words.size() != 1 || command.context.uncalled) continue;
    const auto text = words[0].text();
    const auto equals = text.find('=');
    if (equals == std::string::npos || !util::is_variable_name(text.substr(0, equals))) continue;
    const auto name = text.substr(0, equals);
    hits.add({command.place,
              fmt::format("set does not set {}: it makes this text the first argument, $1", name),
              fmt::format("use export {}=…", name)});
  }
  return hits;
}

} // namespace safety_set_assignment

Rule rule_safety_set_assignment() {
  using namespace safety_set_assignment;
  return {
      .id = "safety/set-assignment",
      .severity = diag::Severity::warning,
      .title = "set NAME=value",
      .why = "In sh and bash, set NAME=value makes the text the first argument of the script: no variable is "
             "set, and $1 is lost. It is the syntax of csh.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/The-Set-Builtin.html",
      .bad = {R"(#!/bin/bash
set OMP_NUM_THREADS=8
python train.py
)"},
      .good = {R"(#!/bin/bash
export OMP_NUM_THREADS=8
python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
