// SPDX-License-Identifier: MIT
// A job that asks for whole nodes and for shared ones.
#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_exclusive_and_shared {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (!subject.version_known || subject.version >= slurm::Version::v23_02)
    return hits; // refused, which is reported already
  for (const auto& request : subject.requests)
    if (request.has("exclusive") && request.has("oversubscribe")) {
      const bool shared = request.sharing == slurm::Sharing::oversubscribe;
      hits.push_back({request.place(shared ? "exclusive" : "oversubscribe"),
                      shared ? "--oversubscribe comes later and wins: the nodes are shared"
                             : "--exclusive comes later and wins: the nodes are not shared",
                      "remove one of them: 23.02 and later reject both together"});
    }
  return hits;
}

} // namespace slurm_exclusive_and_shared

Rule rule_slurm_exclusive_and_shared() {
  using namespace slurm_exclusive_and_shared;
  return {"slurm/exclusive-and-shared",
          diag::Severity::warning,
          "--exclusive and --oversubscribe together",
          "Up to 22.05 the last of the two wins silently; from 23.02 sbatch refuses both together.",
          "https://slurm.schedmd.com/sbatch.html#OPT_exclusive",
          {{R"(#!/bin/bash
#SBATCH --exclusive
#SBATCH --oversubscribe
)",
            "", "22.05"},
           {R"(#!/bin/bash
#SBATCH --oversubscribe --exclusive
)",
            "", "21.08"},
           {R"(#!/bin/bash
#SBATCH -s
#SBATCH --exclusive
)",
            "", "20.11"}},
          {{R"(#!/bin/bash
#SBATCH --exclusive
)",
            "", "22.05"},
           {R"(#!/bin/bash
#SBATCH --oversubscribe
)",
            "", "22.05"},
           {R"(#!/bin/bash
#SBATCH --exclusive=user
)",
            "", "22.05"}},
          find};
}

} // namespace hpcml::check
