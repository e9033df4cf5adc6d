// SPDX-License-Identifier: MIT
// Commands of bash in a script that names sh.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace safety_bash_in_sh {

constexpr std::array<std::string_view, 8> k_of_bash = {"source", "[[",      "declare", "shopt",
                                                       "pushd",  "mapfile", "popd",    "readarray"};

RuleMatches find(const LintContext& subject) {
  const auto line = shebang_line(subject.text);
  const auto words = util::split(std::string(line.substr(0, line.find('\r'))), ' ');
  const bool names_sh = !words.empty() && (words[0] == "#!/bin/sh" || words[0] == "#!/usr/bin/sh" ||
                                           (words[0] == "#!" && words.size() > 1 && words[1] == "/bin/sh"));
  if (!names_sh) return {};
  for (const auto& command : subject.listing.commands) {
    const auto name = command.name();
    if (!name || command.parent || !command.context.script.empty() || command.context.condition ||
        command.context.uncalled || command.context.unreached ||
        !util::contains(k_of_bash, std::string_view(*name)))
      continue;
    return {{command.words[*command.program].place,
             fmt::format("'{}' is a command of bash: where /bin/sh is dash, it is not found", *name),
             "use #!/bin/bash as the first line"}};
  }
  return {};
}

} // namespace safety_bash_in_sh

Rule rule_safety_bash_in_sh() {
  using namespace safety_bash_in_sh;
  return {
      .id = "safety/bash-in-sh",
      .severity = diag::Severity::note,
      .title = "Command of bash in a script for sh",
      .why = "On Red Hat and SUSE /bin/sh is bash, on Debian and Ubuntu it is dash, which has no source and "
             "no [[. There the environment is not activated, and the script continues without it.",
      .link = "https://pubs.opengroup.org/onlinepubs/9799919799/utilities/V3_chap02.html",
      .bad = {R"(#!/bin/sh
source venv/bin/activate
srun python train.py
)"},
      .good = {R"(#!/bin/sh
. venv/bin/activate
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
