// SPDX-License-Identifier: MIT
// A number of tasks that leaves nodes or places for tasks empty.
#include "check/rule.hpp"

#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace slurm_task_count {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& request : subject.requests) {
    const auto tasks = request.count("ntasks");
    if (tasks == 0 || !request.nodes || request.nodes->is_list || request.place("ntasks").length == 0)
      continue;
    const auto nodes = request.nodes->min;
    const auto per_node = request.count("ntasks-per-node");
    if (tasks < nodes)
      hits.push_back({request.place("ntasks"),
                      fmt::format("{} on {} nodes: Slurm reduces the job to {}", util::counted(tasks, "task"),
                                  nodes, util::counted(tasks, "node")),
                      "use --ntasks-per-node: --ntasks counts the whole job"});
    else if (per_node > 0 && tasks < nodes * per_node)
      hits.push_back(
          {request.place("ntasks"),
           fmt::format("--ntasks wins: the job has {} tasks, not {} times {}", tasks, nodes, per_node),
           fmt::format("remove --ntasks, or set it to {}", nodes * per_node)});
  }
  return hits;
}

} // namespace slurm_task_count

Rule rule_slurm_task_count() {
  using namespace slurm_task_count;
  return {
      .id = "slurm/task-count",
      .severity = diag::Severity::warning,
      .title = "Fewer tasks than nodes or places",
      .why =
          "--ntasks counts the tasks of the whole job. Below --nodes, Slurm cuts the nodes with a warning; "
          "below nodes times "
          "--ntasks-per-node, the latter becomes a mere upper limit and GPUs stay idle.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_ntasks",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=4 --ntasks=2
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks=2
)"},
      .find = find,
  };
}

} // namespace hpcml::check
