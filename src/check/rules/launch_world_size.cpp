// SPDX-License-Identifier: MIT
// A literal WORLD_SIZE that is not the number of tasks.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_world_size {

/// Whether the value is a number, or one of the job's: its nodes, tasks or GPUs of a node, or a term of
/// these.
bool is_number(const shell::Argument& value) {
  return value.known() || value.text().starts_with("$((") ||
         reading_piece(value, {"SLURM_NNODES", "SLURM_JOB_NUM_NODES", "SLURM_NTASKS_PER_NODE",
                               "SLURM_GPUS_ON_NODE"}) != nullptr;
}

RuleMatches find(const LintContext& subject) {
  if (subject.requests.size() != 1) return {};
  const auto job = shape_of_job(subject);
  const auto& request = subject.requests[0];
  RuleMatches hits;
  for (const auto& launch : subject.launches) {
    if (!launch.step() || launch.agent() || !launch.python()) continue;
    const auto* value = launch.variable("WORLD_SIZE");
    const auto shape = shape_of(subject, launch);
    if (!value || !is_number(*value) || !shape.tasks || *shape.tasks < 2) continue;
    const auto size = number_of(*value, job);
    if (!size || *size == *shape.tasks) continue;
    auto fix = shape.tasks == job.tasks && (request.has("ntasks") || request.has("ntasks-per-node"))
                   ? replace_end(subject, value->place, value->text(), "$SLURM_NTASKS")
                   : std::vector<Edit>();
    add_match(hits, {value->place,
                     fmt::format("WORLD_SIZE is {}, but {} starts {} processes", *size,
                                 launch.step()->program, *shape.tasks),
                     "export WORLD_SIZE=$SLURM_NTASKS", std::move(fix)});
  }
  return hits;
}

} // namespace launch_world_size

Rule rule_launch_world_size() {
  using namespace launch_world_size;
  return {
      .id = "launch/world-size",
      .severity = diag::Severity::warning,
      .title = "WORLD_SIZE differs from the number of tasks",
      .why =
          "init_process_group waits until WORLD_SIZE processes have connected. With a number from an older "
          "version of the script it waits for processes that are never started, or ranks beyond it fail.",
      .link = "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
      .bad = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export WORLD_SIZE=4
srun python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=4
export WORLD_SIZE=8
srun python train.py
)"},
      .find = find,
  };
}

} // namespace hpcml::check
