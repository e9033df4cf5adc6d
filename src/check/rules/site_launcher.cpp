// SPDX-License-Identifier: MIT
// Programs that start tasks and are not those of the site.
#include <algorithm>
#include <fmt/format.h>

#include "check/site_rule.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace site_launcher {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.site || subject.site->launchers.empty()) return hits;
  const auto& launchers = subject.site->launchers;
  const auto is_listed = [&](const std::string& name) {
    return std::any_of(launchers.begin(), launchers.end(),
                       [&](const auto& rule) { return rule.name == name; });
  };
  std::vector<std::string> names;
  for (const auto& rule : launchers) names.push_back(rule.name);
  std::vector<std::size_t> seen;
  for (const auto& launch : subject.launches) {
    const auto& program = launch.chain.front().program;
    const auto* launcher = model::find_launcher(program);
    const bool starts = launcher && launcher->words.name == program && launcher->is_step();
    const auto at = launch.chain.front().place.offset;
    if (launch.chain.front().find("version") || launch.chain.front().find("help")) continue;
    // srun is Slurm's own: it works wherever the site has not put its own program before the MPI's.
    const auto usual =
        std::find_if(launchers.begin(), launchers.end(), [](const auto& rule) { return rule.is_default; });
    const auto& own = usual == launchers.end() ? launchers.front().name : usual->name;
    const bool wrapped = own != "mpirun" && own != "mpiexec";
    if (!starts || is_listed(program) || (program == "srun" && !wrapped) ||
        std::find(seen.begin(), seen.end(), at) != seen.end())
      continue;
    seen.push_back(at);
    RuleMatch hit{launch.chain.front().place,
                  fmt::format("{} starts programs with {}, not with {}", subject.site->name,
                              util::join(names, " or "), program),
                  cite({}, launchers.front().origin)};
    if (launcher->of_some_sites) hit.severity = diag::Severity::warning;
    hits.push_back(std::move(hit));
  }
  return hits;
}

} // namespace site_launcher

Rule rule_site_launcher() {
  using namespace site_launcher;
  return {
      .id = "site/launcher",
      .severity = diag::Severity::note,
      .title = "Launcher that the site does not document",
      .why =
          "A launcher that does not know the site's MPI and network starts every rank as rank 0, puts all on "
          "one node, or does not exist.",
      .link = "https://docs.tacc.utexas.edu/hpc/vista/",
      .bad = {R"(#!/bin/bash
#SBATCH -p gh
#SBATCH -N2
#SBATCH -n2
#SBATCH -t 10
srun ./train
)",
              "vista"},
      .good = {R"(#!/bin/bash
#SBATCH -p gh
#SBATCH -N2
#SBATCH -n2
#SBATCH -t 10
ibrun ./train
)",
               "vista"},
      .find = find,
  };
}

} // namespace hpcml::check
