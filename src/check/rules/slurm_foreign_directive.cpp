// SPDX-License-Identifier: MIT
// Lines of another batch system that sbatch obeys next to its own.
#include <algorithm>
#include <fmt/format.h>

#include "check/rule.hpp"
#include "core/slurm/foreign_directives.hpp"

namespace hpcml::check {
namespace slurm_foreign_directive {

const slurm::OptionSetting* own_setting(const LintContext& subject, const std::string& option) {
  for (const auto& settings : subject.settings)
    for (const auto& setting : settings)
      if (setting.option == option &&
          subject.text.substr(line_at(subject.text, setting.place.offset).offset, 2) == "#S")
        return &setting;
  return nullptr;
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto& directives = subject.header.directives;
  const auto is_own = [](const slurm::HeaderLine& d) { return d.magic == slurm::DirectivePrefix::sbatch; };
  if (std::all_of(directives.begin(), directives.end(), is_own) ||
      std::none_of(directives.begin(), directives.end(), is_own) || subject.directive("ignore-pbs"))
    return hits;
  slurm::LocatedFindings refusals({}, subject.text); // reported with all others that sbatch makes
  for (const auto& setting : slurm::translate_foreign(subject.header, subject.version, refusals)) {
    const auto* own = own_setting(subject, setting.option);
    if (own && own->value == setting.value) continue;
    hits.push_back({setting.place,
                    fmt::format("sbatch obeys this line, which sets --{}{}", setting.option,
                                own ? ", against the #SBATCH line" : ""),
                    "remove it, or add #SBATCH --ignore-pbs",
                    {},
                    own ? diag::Severity::warning : diag::Severity::note});
  }
  return hits;
}

} // namespace slurm_foreign_directive

Rule rule_slurm_foreign_directive() {
  using namespace slurm_foreign_directive;
  return {
      .id = "slurm/foreign-directive",
      .severity = diag::Severity::warning,
      .title = "#PBS or #BSUB lines in addition to #SBATCH",
      .why = "sbatch also obeys #PBS and #BSUB lines, and where both set something the other system's line "
             "wins, wherever it is. A script that was ported and kept its old header asks for something else "
             "than it seems to.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_ignore-pbs",
      .bad = {R"(#!/bin/bash
#PBS -l nodes=4
#SBATCH --nodes=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ignore-pbs
#PBS -l nodes=4
)"},
      .find = find,
  };
}

} // namespace hpcml::check
