// SPDX-License-Identifier: MIT
// A number of nodes that does not agree with the job's.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_node_count {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  const auto job = shape_of_job(subject);
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    if (!agent || agent->find(model::OptionMeaning::alone)) continue;
    const auto* nodes = agent->find(model::OptionMeaning::nodes);
    const auto shape = launch.step() ? shape_of(subject, launch) : job;
    if (!nodes || !nodes->value || !nodes->value->known() || !shape.nodes ||
        launch.command->context.background)
      continue;
    const auto count = number_of(*nodes->value, job);
    if (!count || *count == *shape.nodes || (!launch.step() && *count == 1)) continue;
    auto fix = shape.nodes == job.nodes
                   ? replace_end(subject, nodes->place, nodes->value->text(), "$SLURM_NNODES")
                   : std::vector<Edit>();
    add_match(hits, {nodes->place,
                     fmt::format("the program expects {}, but this runs on {}", util::counted(*count, "node"),
                                 *shape.nodes),
                     "use $SLURM_NNODES, so that only the directives set the number", std::move(fix)});
  }
  return hits;
}

} // namespace launch_node_count

Rule rule_launch_node_count() {
  using namespace launch_node_count;
  return {
      .id = "launch/node-count",
      .severity = diag::Severity::warning,
      .title = "Number of nodes differs from the job's",
      .why = "With more nodes than the job has the rendezvous waits until it gives up; with fewer some nodes "
             "are turned away or train by themselves. It happens when "
             "one of two copies of the same number is changed.",
      .link = "https://docs.pytorch.org/docs/stable/elastic/run.html",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=4 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1
srun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=$H:$P train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
