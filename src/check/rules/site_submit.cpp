// SPDX-License-Identifier: MIT
// Where and with what a job of the site is submitted.
#include "check/site_rule.hpp"
#include "site/submission.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace site_submit {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject)) {
    if (&part.request != &subject.requests.front()) break;
    const auto [hosts, command] = site::submission_of(part.site, part.fit.facts);
    const auto from = hosts.empty() ? "" : " from " + util::join(hosts, " or ");
    if (command)
      hits.push_back({{}, "submit it with " + command->value + from, with_source({}, command->origin)});
    else if (!hosts.empty())
      hits.push_back({{}, "submit it" + from, with_source({}, part.site.submit.origin)});
  }
  return hits;
}

} // namespace site_submit

Rule rule_site_submit() {
  using namespace site_submit;
  return {
      "site/submit",
      diag::Severity::note,
      "Another login node or command",
      "Sites with several kinds of login nodes take some jobs from one of them only, or by a command of "
      "their own.",
      "https://slurm.schedmd.com/sbatch.html",
      {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gh\n#SBATCH --gres=gpu:1\nsrun true\n", "bede"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH --gpus-per-node=4\nsrun true\n", "trillium"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH -p gpu-h100\n#SBATCH --gres=gpu:h100:4\nsrun "
        "true\n",
        "kestrel"}},
      {{"#!/bin/bash\n#SBATCH -A x\n#SBATCH -t 10\n#SBATCH -p gpu\n#SBATCH --gres=gpu:1\nsrun true\n",
        "bede"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nsrun true\n",
        "lumi"},
       {"#!/bin/bash\n#SBATCH -A me\n#SBATCH -t 60\n#SBATCH -p small\nsrun true\n", "generic"}},
      find};
}

} // namespace hpcml::check
