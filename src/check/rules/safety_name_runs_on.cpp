// SPDX-License-Identifier: MIT
// "$JOB_NAME_$EPOCH": an underscore after a variable is part of its name.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_name_runs_on {

/// Names that the text assigns (`NAME=`), and those that it reads (`$NAME`).
struct UsedNames {
  std::set<std::string_view> assigned, read;
};

UsedNames find_used_names(std::string_view text) {
  UsedNames used;
  for (std::size_t at = 0; at < text.size();) {
    const auto begin = at;
    while (at < text.size() && util::is_name_char(text[at])) ++at;
    if (at == begin) {
      ++at;
      continue;
    }
    const auto name = text.substr(begin, at - begin);
    if (begin > 0 && text[begin - 1] == '$') used.read.insert(name);
    if (at < text.size() && text[at] == '=') used.assigned.insert(name);
  }
  return used;
}

/// True if the dollar sign is in a comment, in single quotes or taken literally.
bool is_plain_text(const LintContext& subject, std::size_t dollar) {
  const auto line = line_at(subject.text, dollar);
  const auto before = subject.text.substr(line.offset, dollar - line.offset);
  return is_in_comment(subject.text, dollar) || before.ends_with("\\") ||
         before.find('\'') != std::string_view::npos || subject.is_in_text(dollar);
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto text = subject.text;
  const bool possible =
      std::any_of(subject.names.begin(), subject.names.end(), [](auto name) { return name.ends_with("_"); });
  if (!possible || !is_shell_script(text)) return hits;
  const auto used = find_used_names(text);
  for (auto dollar = text.find('$', subject.header.end); dollar != std::string_view::npos;
       dollar = text.find('$', dollar + 1)) {
    auto end = dollar + 1;
    while (end < text.size() && util::is_name_char(text[end])) ++end;
    const auto name = text.substr(dollar + 1, end - dollar - 1);
    if (name.size() < 3 || name.back() != '_' || name.ends_with("__") || is_plain_text(subject, dollar))
      continue;
    const auto meant = name.substr(0, name.size() - 1);
    if (used.assigned.count(name) > 0 || used.read.count(meant) + used.assigned.count(meant) == 0) continue;
    hits.add({{dollar, end - dollar},
              fmt::format("bash reads a variable {}, which nothing sets: the underscore is part of the name",
                          name),
              fmt::format("use ${{{}}}_", meant),
              {{dollar + 1, name.size(), fmt::format("{{{}}}_", meant)}}});
  }
  return hits;
}

} // namespace safety_name_runs_on

Rule rule_safety_name_runs_on() {
  using namespace safety_name_runs_on;
  return {
      .id = "safety/name-runs-on",
      .severity = diag::Severity::warning,
      .title = "Underscore read as part of a variable's name",
      .why = "Letters, digits and underscores after $ belong to the name. $NAME_$EPOCH reads NAME_, which is "
             "empty: runs write to one directory, and a resume finds no checkpoint.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Shell-Parameter-Expansion.html",
      .bad = {R"(#!/bin/bash
NAME=run
srun python train.py --out=$NAME_$SLURM_JOB_ID
)"},
      .good = {R"(#!/bin/bash
NAME=run
srun python train.py --out=${NAME}_$SLURM_JOB_ID
)"},
      .find = find,
  };
}

} // namespace hpcml::check
