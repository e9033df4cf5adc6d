// SPDX-License-Identifier: MIT
// Arguments of the script that it uses unchecked.
#include <algorithm>
#include <array>
#include <optional>

#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_unchecked_argument {

/// True if the text has $1 or ${1}.
bool mentions_argument(std::string_view text) {
  for (auto at = text.find('$'); at != std::string_view::npos; at = text.find('$', at + 1))
    if (const auto next = text.substr(at + 1, 3); next.starts_with('1') || next == "{1}") return true;
  return false;
}

/// True if the script looks at its arguments, or a function or a loop over them may.
bool checks_arguments(std::string_view text) {
  static constexpr std::array<std::string_view, 17> k_signs = {
      "$#",    "${#",     "${1:",     "${1-",   "${1?",  "$1 ==",   "$1\" ==", "$1\" =", "-z \"$1",
      "-z $1", "-n \"$1", "-z \"${1", "getopt", "shift", "nounset", "set -u",  "set -eu"};
  return std::any_of(k_signs.begin(), k_signs.end(),
                     [&](auto sign) { return text.find(sign) != std::string_view::npos; }) ||
         text.find("case $1") != std::string_view::npos || text.find("case \"$1") != std::string_view::npos ||
         text.find("set -xu") != std::string_view::npos ||
         text.find("set -o nounset") != std::string_view::npos;
}

/// True if the word is the script's first argument and nothing more.
bool is_argument(std::string_view text) {
  return text == "$1" || text == "${1}" || text == "\"$1\"" || text == "\"${1}\"";
}

/// True if the script tests the variable, or has a default for it.
bool is_tested(std::string_view text, const std::string& name) {
  const auto has = [&](const std::string& sign) { return text.find(sign) != std::string_view::npos; };
  return has("${" + name + ":") || has("-z \"$" + name) || has("-z $" + name) || has("-z \"${" + name) ||
         has("-z ${" + name) || has("-n \"$" + name) || has("-n $" + name) || has("-n \"${" + name);
}

/// Where the script's argument is assigned on a line that is not in a function: the variable's name.
std::optional<diag::TextRange> find_assignment(const LintContext& subject) {
  const auto text = subject.text;
  for (const std::string_view value : {"=$1", "=${1}", "=\"$1\"", "=\"${1}\""})
    for (auto at = text.find(value); at != std::string_view::npos; at = text.find(value, at + 1)) {
      const auto line = line_at(text, at);
      const auto whole = text.substr(line.offset, line.length);
      const auto name = whole.substr(0, at - line.offset);
      const auto rest = whole.substr(name.size() + value.size());
      if (!util::is_variable_name(std::string(name)) ||
          (!rest.empty() && rest[0] != ' ' && rest[0] != '\t') || subject.is_in_text(line.offset))
        continue;
      if (is_tested(text, std::string(name)) || !reads(text.substr(line.offset + line.length), name))
        return std::nullopt;
      return diag::TextRange{at + 1, value.size() - 1};
    }
  return std::nullopt;
}

/// Where a program that the job runs gets the argument.
std::optional<diag::TextRange> find_use(const LintContext& subject) {
  for (const auto& launch : subject.launches) {
    if (!does_work(launch) || !launch.command->context.function.empty() || launch.command->parent) continue;
    for (const auto& word : launch.command->words)
      for (const auto& piece : word.pieces)
        if (!piece.known && is_argument(piece.text) && piece.place.length > 0) return piece.place;
  }
  return std::nullopt;
}

RuleMatches find(const LintContext& subject) {
  const auto text = subject.text;
  if (subject.header.directives.empty() || !mentions_argument(text) || !is_shell_script(text) ||
      subject.launches.empty())
    return {};
  auto place = find_use(subject);
  if (!place) place = find_assignment(subject);
  if (!place || checks_arguments(text)) return {};
  return {{*place, "$1 is empty if sbatch gets no argument after the script, and nothing checks it",
           "use ${1:?what it is}, which ends the job at once"}};
}

} // namespace safety_unchecked_argument

Rule rule_safety_unchecked_argument() {
  using namespace safety_unchecked_argument;
  return {
      .id = "safety/unchecked-argument",
      .severity = diag::Severity::note,
      .title = "Argument that nothing checks",
      .why = "sbatch job.sh without an argument is accepted. The job waits in the queue, and then the "
             "program gets --model without a value, or a path with a part missing.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Shell-Parameter-Expansion.html",
      .bad = {R"(#!/bin/bash
#SBATCH --time=10
python train.py --model $1
)"},
      .good = {R"(#!/bin/bash
#SBATCH --time=10
model=${1:?name of the model}
python train.py --model "$model"
)"},
      .find = find,
  };
}

} // namespace hpcml::check
