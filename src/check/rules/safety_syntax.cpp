// SPDX-License-Identifier: MIT
// What bash cannot read.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_syntax {

/// Whether another shell reads the script, with its own grammar.
bool is_other_shell(std::string_view text) {
  const auto first = shebang_line(text);
  return first.starts_with("#!") &&
         (first.find("zsh") != std::string_view::npos || first.find("ksh") != std::string_view::npos);
}

/// The first "<options>" on the line of the byte.
std::optional<diag::TextRange> gap_on_line(std::string_view text, std::size_t offset) {
  const auto line = line_at(text, offset);
  for (auto at = text.find('<', line.offset); at < line.offset + line.length; at = text.find('<', at + 1))
    if (const auto gap = gap_at(text, at)) return gap;
  return std::nullopt;
}

RuleMatches find(const LintContext& subject) {
  if (subject.unread.empty() || is_other_shell(subject.text)) return {};
  const auto& unread = subject.unread.front(); // what follows is often only its consequence
  auto place = unread.failed_at.length > 0 ? unread.failed_at : unread.place;
  if (const auto end = subject.text.find('\n', place.offset);
      end != std::string_view::npos && end > place.offset)
    place.length = std::min(place.length, end - place.offset);
  if (const auto gap = gap_on_line(subject.text, std::min(place.offset, subject.text.size())))
    return {{*gap,
             fmt::format("bash parses '{}' as redirects, not as a placeholder",
                         subject.text.substr(gap->offset, gap->length)),
             "set the value"}};
  return {{place, fmt::format("bash cannot parse this: {}", unread.why),
           "run bash -n FILE to check a script without executing it"}};
}

} // namespace safety_syntax

Rule rule_safety_syntax() {
  using namespace safety_syntax;
  return {
      .id = "safety/syntax",
      .severity = diag::Severity::error,
      .title = "Bash syntax error",
      .why = "sbatch does not look at the commands: the job waits, starts, runs to the line that bash cannot "
             "read and dies there, or, "
             "with a quote that is never closed, does nothing at all.",
      .link = "https://www.gnu.org/software/bash/manual/html_node/Shell-Syntax.html",
      .bad = {R"(#!/bin/bash
srun echo "a
srun true
)"},
      .good = {R"(#!/bin/bash
srun echo "a"
)"},
      .find = find,
  };
}

} // namespace hpcml::check
