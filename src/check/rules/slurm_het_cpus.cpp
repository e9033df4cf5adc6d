// SPDX-License-Identifier: MIT
// Components of a heterogeneous job in one step, of which only some set --cpus-per-task.
#include <algorithm>

#include "check/launch_facts.hpp"

namespace hpcml::check {
namespace slurm_het_cpus {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() < 2 || !subject.may_be("25.05-")) return hits;
  const auto has_cpus = [](const slurm::JobOptions& request) { return request.has("cpus-per-task"); };
  if (!has_cpus(subject.requests[0]) ||
      std::all_of(subject.requests.begin(), subject.requests.end(), has_cpus))
    return hits;
  for (const auto& launch : subject.launches)
    if (const auto* groups = names_components(launch);
        groups && !is_unset_before(subject, "SLURM_CPUS_PER_TASK", groups->place.offset))
      hits.push_back({groups->place, "from 25.05 srun stops here: not every component has --cpus-per-task",
                      "add --cpus-per-task to every component"});
  return hits;
}

} // namespace slurm_het_cpus

Rule rule_slurm_het_cpus() {
  using namespace slurm_het_cpus;
  return {
      .id = "slurm/het-cpus",
      .severity = diag::Severity::warning,
      .title = "Step over components of which only some have --cpus-per-task",
      .why =
          "From 25.05 srun --het-group=0,1 is fatal where one component has --cpus-per-task and another has "
          "none: "
          "SLURM_CPUS_PER_TASK and SLURM_TRES_PER_TASK then contradict each other.",
      .link = "https://slurm.schedmd.com/heterogeneous_jobs.html",
      .bad = {R"(#!/bin/bash
#SBATCH -n1 -c4
#SBATCH hetjob
#SBATCH -n2
srun --het-group=0,1 ./a
)",
              "", "25.05"},
      .good = {R"(#!/bin/bash
#SBATCH -n1 -c4
#SBATCH hetjob
#SBATCH -n2 -c1
srun --het-group=0,1 ./a
)",
               "", "25.05"},
      .find = find,
  };
}

} // namespace hpcml::check
