// SPDX-License-Identifier: MIT
// Options of the script itself that it reads and then does not use.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_unused_option {

/// The name that is assigned at the place of "=": of `MODEL="$2"` "MODEL"; empty if none starts a command.
std::string_view name_before(std::string_view text, std::size_t equals) {
  auto begin = equals;
  while (begin > 0 && util::is_name_char(text[begin - 1])) --begin;
  const auto line = line_at(text, begin);
  const auto before = util::trim(text.substr(line.offset, begin - line.offset));
  const bool starts = before.empty() || before.ends_with(")") || before.ends_with(";");
  return starts && !before.starts_with("#") ? text.substr(begin, equals - begin) : std::string_view();
}

/// True if the text after the place of the assignment's value reads the variable, or something may that is
/// not visible: a sourced file, the environment of programs, an indirect name.
bool is_used(std::string_view text, std::string_view name) {
  if (reads(text, name)) return true;
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at > 0 && util::is_name_char(text[at - 1])) || (end < text.size() && util::is_name_char(text[end])))
      continue;
    const auto line = line_at(text, at);
    const auto before = text.substr(line.offset, at - line.offset);
    const bool is_pattern = text.substr(end, 1) == ")" && util::trim(before).empty();
    if (is_in_comment(text, at) || before.ends_with("-") || is_pattern) continue;
    if (end >= text.size() || text[end] != '=') return true; // "((NAME", "export NAME", "-v NAME"
    if (util::trim(before).starts_with("export") || util::trim(before).starts_with("declare")) return true;
  }
  return false;
}

/// True if the script exports all its variables, or reads some by names or files that are not visible.
bool may_be_used_elsewhere(const LintContext& subject) {
  static constexpr std::array<std::string_view, 5> k_signs = {"set -a", "allexport", "${!", "envsubst",
                                                              "eval "};
  const auto parsed = std::max(subject.text.rfind("esac"), subject.header.end);
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return subject.text.find(sign) != std::string_view::npos; }) ||
         std::any_of(subject.listing.commands.begin(), subject.listing.commands.end(),
                     [&](const auto& command) {
                       const auto name = command.name();
                       return (name == "source" || name == ".") && command.place.offset > parsed &&
                              command.words.size() > 1 && !command.words[1].text().ends_with("activate") &&
                              !command.words[1].text().ends_with(".env");
                     });
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const bool parses = std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    return launch.last().program == "shift" || launch.last().program == "getopts";
  });
  if (!parses || !is_shell_script(subject.text)) return hits;
  for (const std::string_view value :
       {"=\"$2\"", "=$2", "=\"${2}\"", "=$OPTARG", "=${OPTARG}", "=\"$OPTARG\"", "=\"${OPTARG}\""})
    for (auto at = subject.text.find(value, subject.header.end); at != std::string_view::npos;
         at = subject.text.find(value, at + 1)) {
      const auto name = name_before(subject.text, at);
      const bool parsed = value.find("OPTARG") != std::string_view::npos ||
                          subject.text.substr(at, 80).find("shift") != std::string_view::npos;
      if (name.size() < 2 || !parsed || is_used(subject.text, name)) continue;
      if (hits.empty() && may_be_used_elsewhere(subject)) return {};
      hits.add({{at - name.size(), name.size() + value.size()},
                fmt::format("nothing uses {}: the option has no effect", name),
                "use the variable in the program's command, or remove the option"});
    }
  return hits;
}

} // namespace safety_unused_option

Rule rule_safety_unused_option() {
  using namespace safety_unused_option;
  return {
      .id = "safety/unused-option",
      .severity = diag::Severity::warning,
      .title = "Option of the script without effect",
      .why = "A script that reads --config and starts its program with a fixed one accepts the option "
             "silently. Runs that were meant to differ are the same.",
      .link = "https://www.shellcheck.net/wiki/SC2034",
      .bad = {R"(#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in
    --config) CONFIG="$2"; shift 2 ;;
  esac
done
srun python train.py --config default.yaml
)"},
      .good = {R"(#!/bin/bash
while [ $# -gt 0 ]; do
  case $1 in
    --config) CONFIG="$2"; shift 2 ;;
  esac
done
srun python train.py --config $CONFIG
)"},
      .find = find,
  };
}

} // namespace hpcml::check
