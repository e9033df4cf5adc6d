// SPDX-License-Identifier: MIT
// Programs that start tasks and are not those of the site.
#include <algorithm>

#include "check/site_rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_launcher {

Hits find(const Subject& subject) {
  Hits hits;
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
    // srun is Slurm's own: it works wherever the site has not put a program of its own before the MPI's.
    const auto usual =
        std::find_if(launchers.begin(), launchers.end(), [](const auto& rule) { return rule.is_default; });
    const auto& own = usual == launchers.end() ? launchers.front().name : usual->name;
    const bool wrapped = own != "mpirun" && own != "mpiexec";
    if (!starts || is_listed(program) || (program == "srun" && !wrapped) ||
        std::find(seen.begin(), seen.end(), at) != seen.end())
      continue;
    seen.push_back(at);
    Hit hit{launch.chain.front().place,
            subject.site->name + " starts programs with " + util::join(names, " or ") + ", not with " +
                program,
            with_source({}, launchers.front().origin)};
    if (launcher->of_some_sites) hit.severity = diag::Severity::warning;
    hits.push_back(std::move(hit));
  }
  return hits;
}

} // namespace site_launcher

Rule rule_site_launcher() {
  using namespace site_launcher;
  return {
      "site/launcher",
      diag::Severity::note,
      "Another launcher than the site documents",
      "A launcher that does not know the site's MPI and network starts every rank as rank 0, puts all on one "
      "node, or is not there at all.",
      "https://docs.tacc.utexas.edu/hpc/vista/",
      {{"#!/bin/bash\n#SBATCH -p gh\n#SBATCH -N2\n#SBATCH -n2\n#SBATCH -t 10\nsrun ./train\n", "vista"},
       {"#!/bin/bash\n#SBATCH -p gh\n#SBATCH -N2\n#SBATCH -n2\n#SBATCH -t 10\nmpiexec -n 2 ./train\n",
        "vista"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nibrun ./train\n",
        "lumi"}},
      {{"#!/bin/bash\n#SBATCH -p gh\n#SBATCH -N2\n#SBATCH -n2\n#SBATCH -t 10\nibrun ./train\n", "vista"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nsrun ./train\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -p gpu\n#SBATCH -N1\n#SBATCH -t 10\n#SBATCH --gpus=1\nsrun ./train\n", "vega"}},
      find};
}

} // namespace hpcml::check
