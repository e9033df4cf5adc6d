// SPDX-License-Identifier: MIT
// Modules loaded in their own shell.
#include <algorithm>
#include <array>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_module_lost {

constexpr std::array<std::string_view, 8> k_verbs = {"load",   "add",   "swap", "switch",
                                                     "unload", "purge", "use",  "restore"};

/// Whether a pipe is right before or after the command, so that it is a part of the pipeline by itself.
bool is_piped(std::string_view text, diag::TextRange place) {
  const auto next = text.find_first_not_of(" \t", place.offset + place.length);
  if (next != std::string_view::npos && text[next] == '|' && text.substr(next, 2) != "||") return true;
  const auto before =
      place.offset == 0 ? std::string_view::npos : text.find_last_not_of(" \t", place.offset - 1);
  return before != std::string_view::npos && before > 0 && text[before] == '|' && text[before - 1] != '|';
}

/// Whether $(…) or `…` begins on the command's own line: in a function that runs within one what follows has
/// the module.
bool is_substituted(std::string_view text, diag::TextRange place) {
  const auto line = line_at(text, place.offset);
  const auto before = text.substr(line.offset, place.offset - line.offset);
  return before.find("$(") != std::string_view::npos || before.find('`') != std::string_view::npos;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    const auto words = command.arguments();
    const auto& context = command.context;
    if ((name != "module" && name != "ml") || context.uncalled || words.empty() || !words[0].known() ||
        command.parent || context.inexact)
      continue;
    const auto verb = words[0].text();
    if (std::find(k_verbs.begin(), k_verbs.end(), verb) == k_verbs.end()) continue;
    if ((context.substitution && is_substituted(subject.text, command.place)) ||
        (context.pipeline && is_piped(subject.text, command.place)))
      hits.push_back({command.place, "what this loads is lost after the pipeline or $(…)",
                      "use a separate line to load it, and send its output to a file with >"});
  }
  return hits;
}

} // namespace safety_module_lost

Rule rule_safety_module_lost() {
  using namespace safety_module_lost;
  return {
      .id = "safety/module-lost",
      .severity = diag::Severity::warning,
      .title = "Module loaded in a subshell",
      .why = "Each part of a pipeline and each $(…) is a separate shell: what module load sets there is lost "
             "after it, and the program finds neither its libraries nor itself.",
      .link = "https://lmod.readthedocs.io/en/latest/010_user.html",
      .bad = {R"(#!/bin/bash
module load cuda 2>&1 | tee -a log
srun ./a
)"},
      .good = {R"(#!/bin/bash
module load cuda
srun ./a
)"},
      .find = find,
  };
}

} // namespace hpcml::check
