// SPDX-License-Identifier: MIT
// Steps over components that all get the first one's number of tasks.
#include <algorithm>
#include <fmt/format.h>

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_het_tasks {

/// With both, sbatch of 23.11 and later knows the tasks and puts them into SLURM_NTASKS of the batch step,
/// which srun reads for every component; with --ntasks it leaves the others theirs.
bool hands_tasks_on(const slurm::JobOptions& request) {
  return request.has("cpus-per-task") && request.has("ntasks-per-node") && !request.has("ntasks");
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto& sizes = subject.sizes;
  if (sizes.size() < 2 || !subject.may_be("23.11-") || !hands_tasks_on(subject.requests[0])) return hits;
  const auto tasks = [](const slurm::JobSize& size) { return size.min_nodes * size.tasks_per_node; };
  const auto first = tasks(sizes[0]);
  if (std::all_of(sizes.begin(), sizes.end(), [&](const auto& size) { return tasks(size) == first; }))
    return hits;
  for (const auto& launch : subject.launches) {
    const auto* groups = names_components(launch);
    if (!groups || launch.chain.front().find("ntasks") ||
        is_unset_before(subject, "SLURM_NTASKS", groups->place.offset))
      continue;
    hits.push_back({groups->place,
                    fmt::format("from 23.11 every component starts {}, as the first one does",
                                util::counted(static_cast<unsigned long long>(first), "task")),
                    "add before this step: unset SLURM_NTASKS SLURM_NPROCS"});
  }
  return hits;
}

} // namespace slurm_het_tasks

Rule rule_slurm_het_tasks() {
  using namespace slurm_het_tasks;
  return {
      .id = "slurm/het-tasks",
      .severity = diag::Severity::warning,
      .title = "Step over components with the tasks of the first",
      .why =
          "sbatch of 23.11 and later puts the first component's tasks into SLURM_NTASKS where the component "
          "has --ntasks-per-node and --cpus-per-task, and srun --het-group=0,1 takes them for each: tried "
          "with 23.11 to 26.05, 2 and 2 tasks instead of 2 and 8.",
      .link = "https://slurm.schedmd.com/heterogeneous_jobs.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --cpus-per-task=4
#SBATCH hetjob
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=4
srun --het-group=0,1 -c4 ./a
)",
              "", "23.11"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2 --cpus-per-task=4
#SBATCH hetjob
#SBATCH --nodes=2 --ntasks-per-node=4 --cpus-per-task=4
srun --het-group=0,1 -c4 ./a
)",
               "", "23.02"},
      .find = find,
  };
}

} // namespace hpcml::check
