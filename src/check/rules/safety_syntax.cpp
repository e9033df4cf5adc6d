// SPDX-License-Identifier: MIT
// What bash cannot read.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace safety_syntax {

Hits find(const Subject& subject) {
  const auto first = subject.text.substr(0, subject.text.find('\n'));
  if (subject.unread.empty() || (first.substr(0, 2) == "#!" && first.find("zsh") != std::string_view::npos))
    return {};
  const auto& unread = subject.unread.front(); // what follows is often only its consequence
  auto place = place_of(unread.failed_at.length > 0 ? unread.failed_at : unread.place);
  if (const auto end = subject.text.find('\n', place.offset);
      end != std::string_view::npos && end > place.offset)
    place.length = std::min(place.length, end - place.offset);
  return {{place, "bash cannot read this: " + unread.why, "bash -n FILE reads a script without running it"}};
}

} // namespace safety_syntax

Rule rule_safety_syntax() {
  using namespace safety_syntax;
  return {"safety/syntax",
          diag::Severity::error,
          "A syntax error of bash",
          "sbatch does not look at the commands: the job waits, starts, runs to the line that bash cannot "
          "read and dies there, or, "
          "with a quote that is never closed, does nothing at all.",
          "https://www.gnu.org/software/bash/manual/html_node/Shell-Syntax.html",
          {"#!/bin/bash\nsrun echo \"a\nsrun true\n", "#!/bin/bash\nfor i in 1 2; do srun true\n",
           "#!/bin/bash\nX=${Y/a\nsrun true\n", "#!/bin/bash\nsrun python train.py --out <path>\n"},
          {"#!/bin/bash\nsrun echo \"a\"\n", "#!/usr/bin/env python3\nprint('a\" (b')\nif x: pass\n",
           "#!/bin/bash\ncat <<'EOF'\nfor \" in (\nEOF\n"},
          find};
}

} // namespace hpcml::check
