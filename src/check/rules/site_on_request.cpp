// SPDX-License-Identifier: MIT
// Partitions and QoS that one applies for.
#include "check/site_rule.hpp"

namespace hpcml::check {
namespace site_on_request {

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& part : parts_of(subject))
    for (const auto& verdict : part.under("site/on-request")) {
      const bool qos = verdict.rule == site::SiteRule::qos_on_request;
      hits.push_back({part.place({qos ? "qos" : "partition"}),
                      (qos ? "QoS " : "partition ") + verdict.name + " is open to those who applied for it",
                      with_source({}, verdict.origin)});
    }
  return hits;
}

} // namespace site_on_request

Rule rule_site_on_request() {
  using namespace site_on_request;
  return {
      "site/on-request",
      diag::Severity::note,
      "A partition or QoS on request only",
      "A job in a partition that is not open to its account is refused, whatever else it says.",
      "https://slurm.schedmd.com/slurm.conf.html#OPT_AllowAccounts",
      {{"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH -p low\n#SBATCH -N1\n#SBATCH -t 10\nsrun true\n",
        "alps_clariden"},
       {"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH --partition=low\n#SBATCH -N2\n#SBATCH -t 60\nsrun true\n",
        "alps_daint"},
       {"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH --partition=low,normal\n#SBATCH -N2\n#SBATCH -t 60\nsrun "
        "true\n",
        "alps_daint"}},
      {{"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH -p normal\n#SBATCH -N1\n#SBATCH -t 10\nsrun true\n",
        "alps_clariden"},
       {"#!/bin/bash\n#SBATCH --account=g1\n#SBATCH -p debug\n#SBATCH -N1\n#SBATCH -t 10\nsrun true\n",
        "alps_daint"},
       {"#!/bin/bash\n#SBATCH --account=project_462000001\n#SBATCH --time=10\n#SBATCH -p small-g\n#SBATCH "
        "--gpus-per-node=1\nsrun true\n",
        "lumi"}},
      find};
}

} // namespace hpcml::check
