// SPDX-License-Identifier: MIT
// What bash cannot read.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_syntax {

/// Whether another shell reads the script, with its own grammar.
bool is_other_shell(std::string_view text) {
  const auto first = text.substr(0, text.find('\n'));
  return first.starts_with("#!") &&
         (first.find("zsh") != std::string_view::npos || first.find("ksh") != std::string_view::npos);
}

RuleMatches find(const LintContext& subject) {
  if (subject.unread.empty() || is_other_shell(subject.text)) return {};
  const auto& unread = subject.unread.front(); // what follows is often only its consequence
  auto place = unread.failed_at.length > 0 ? unread.failed_at : unread.place;
  if (const auto end = subject.text.find('\n', place.offset);
      end != std::string_view::npos && end > place.offset)
    place.length = std::min(place.length, end - place.offset);
  return {{place, fmt::format("bash cannot parse this: {}", unread.why),
           "run bash -n FILE to check a script without executing it"}};
}

} // namespace safety_syntax

Rule rule_safety_syntax() {
  using namespace safety_syntax;
  return {"safety/syntax",
          diag::Severity::error,
          "Bash syntax error",
          "sbatch does not look at the commands: the job waits, starts, runs to the line that bash cannot "
          "read and dies there, or, "
          "with a quote that is never closed, does nothing at all.",
          "https://www.gnu.org/software/bash/manual/html_node/Shell-Syntax.html",
          {R"(#!/bin/bash
srun echo "a
srun true
)",
           R"(#!/bin/bash
for i in 1 2; do srun true
)",
           R"(#!/bin/bash
X=${Y/a
srun true
)",
           R"(#!/bin/bash
srun python train.py --out <path>
)"},
          {R"(#!/bin/bash
srun echo "a"
)",
           R"(#!/usr/bin/env python3
print('a" (b')
if x: pass
)",
           R"(#!/bin/ksh
if [[ $a == b ]] ; then ; x=1 ;fi
)",
           R"(#!/bin/bash
cat <<'EOF'
for " in (
EOF
)"},
          find};
}

} // namespace hpcml::check
