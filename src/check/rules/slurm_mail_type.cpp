// SPDX-License-Identifier: MIT
// An address for mail without the events that send one.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_mail_type {

RuleMatches find(const LintContext& subject) {
  const auto* user = subject.directive("mail-user");
  if (!user || user->place.length == 0 || subject.directive("mail-type")) return {};
  for (const auto& settings : subject.settings)
    for (const auto& setting : settings)
      if (setting.option == "mail-type") return {}; // one that is refused
  return {{user->place, "no mail is sent without --mail-type", "add #SBATCH --mail-type=END,FAIL"}};
}

} // namespace slurm_mail_type

Rule rule_slurm_mail_type() {
  using namespace slurm_mail_type;
  return {
      .id = "slurm/mail-type",
      .severity = diag::Severity::note,
      .title = "--mail-user without --mail-type",
      .why = "Slurm sends no mail unless --mail-type says for which events: the address alone does nothing.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mail-type",
      .bad = {R"(#!/bin/bash
#SBATCH --mail-user=me
)"},
      .good = {R"(#!/bin/bash
#SBATCH --mail-user=me --mail-type=END
)"},
      .find = find,
  };
}

} // namespace hpcml::check
