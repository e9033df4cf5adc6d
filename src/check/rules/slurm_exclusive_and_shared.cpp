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
      const bool shared = request.sharing == slurm::NodeSharing::oversubscribe;
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
  return {
      .id = "slurm/exclusive-and-shared",
      .severity = diag::Severity::warning,
      .title = "--exclusive and --oversubscribe together",
      .why = "Up to 22.05 the last of the two wins silently; from 23.02 sbatch refuses both together.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_exclusive",
      .bad = {R"(#!/bin/bash
#SBATCH --exclusive
#SBATCH --oversubscribe
)",
              "", "22.05"},
      .good = {R"(#!/bin/bash
#SBATCH --exclusive
)",
               "", "22.05"},
      .find = find,
  };
}

} // namespace hpcml::check
