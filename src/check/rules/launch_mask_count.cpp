// SPDX-License-Identifier: MIT
// Fewer masks than tasks on a node.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_mask_count {

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  for (const auto& [launch, step, masks] : masked_launches(subject)) {
    const auto tasks = shape_of(subject, *launch).tasks_per_node;
    const auto count = static_cast<long>(masks.masks.size());
    if (!tasks || *tasks <= count) continue;
    add_match(hits,
              {masks.option->place,
               fmt::format("{} for {} tasks per node: Slurm repeats the list, so tasks share the same CPUs",
                           util::counted(count, "mask"), *tasks),
               "use one mask per task of a node, or --cpu-bind=cores with --cpus-per-task"});
  }
  return hits;
}

} // namespace launch_mask_count

Rule rule_launch_mask_count() {
  using namespace launch_mask_count;
  return {
      .id = "launch/mask-count",
      .severity = diag::Severity::warning,
      .title = "Fewer masks than tasks",
      .why = "A list of masks that is shorter than the number of tasks on a node is used again from its "
             "beginning: two or more tasks run on the same cores while "
             "others stay idle.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_cpu-bind",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=8
srun --cpu-bind=mask_cpu:0xfe,0xfe00 python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=1 --ntasks-per-node=2
srun --cpu-bind=mask_cpu:0xfe,0xfe00 python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
