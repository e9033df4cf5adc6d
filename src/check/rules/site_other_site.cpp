// SPDX-License-Identifier: MIT
// A script that hpcml wrote for another site.
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_other_site {

RuleMatches find(const LintContext& subject) {
  RuleMatches matches;
  if (!subject.site) return matches;
  for (const auto& launch : subject.launches) {
    const auto* own = launch.find("hpcml");
    const auto* option = own ? own->find("site") : nullptr;
    const auto site = option && option->value && option->value->known() ? option->value->text() : "";
    if (site.empty() || site == subject.site->id || site == "generic") continue;
    add_match(matches,
              {option->place,
               fmt::format("hpcml launch starts the ranks as on {}, but the script is checked for {}", site,
                           subject.site->id),
               fmt::format("run the hpcml gen command of the script's first comment again with "
                           "--site {} and values of that site",
                           subject.site->id)});
    break; // the launches of a script are all for one site
  }
  return matches;
}

} // namespace site_other_site

Rule rule_site_other_site() {
  using namespace site_other_site;
  return {
      .id = "site/other-site",
      .severity = diag::Severity::warning,
      .title = "A generated script of another site",
      .why = "hpcml gen writes a script for one site: its modules, its binding, its network interfaces and "
             "the profile that hpcml launch reads are those of that site.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_cpu-bind",
      .bad = {R"(#!/bin/bash
#SBATCH --account=def-me --nodes=1 --gpus-per-node=h100:4 --ntasks-per-node=4 --cpus-per-task=12 --mem=0 --time=1:00:00
srun hpcml launch --site narval -- python train.py
)",
              "rorqual"},
      .good = {R"(#!/bin/bash
#SBATCH --account=def-me --nodes=1 --gpus-per-node=h100:4 --ntasks-per-node=4 --cpus-per-task=12 --mem=0 --time=1:00:00
srun hpcml launch --site rorqual -- python train.py
)",
               "rorqual"},
      .find = find,
      .likely_refusal = true,
  };
}

} // namespace hpcml::check
