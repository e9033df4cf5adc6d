// SPDX-License-Identifier: MIT
// Masks with CPUs that the node does not have or the site keeps.
#include "check/job_shape.hpp"

#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include <fmt/format.h>

namespace hpcml::check {
namespace launch_mask_cpus {

RuleMatches find(const LintContext& subject) {
  const auto* node = only_node(subject);
  if (!node || node->cpu.core_threads.empty()) return {};
  RuleMatches hits;
  for (const auto& [launch, step, masks] : masked_launches(subject)) {
    model::IdSet all;
    for (const auto& mask : masks.masks) all = all | mask;
    const auto outside = all - node->cpu.all();
    const auto reserved = node->cpu.reserved_override.empty() && !subject.directive("core-spec")
                              ? all & node->cpu.reserved
                              : model::IdSet();
    if (outside.empty() && reserved.empty()) continue;
    const bool beyond = !outside.empty();
    add_match(hits, {masks.option->place,
                     beyond ? fmt::format("the masks name CPUs {}, which the nodes of {} do not have",
                                          outside.to_list(), subject.site->id)
                            : fmt::format("the masks name CPUs {}, which {} reserves for the system",
                                          reserved.to_list(), subject.site->id),
                     fmt::format("remove those CPUs, which Slurm 22.05 and later rejects, or run hpcml "
                                 "affinity --site {} for masks that fit",
                                 subject.site->id)});
  }
  return hits;
}

} // namespace launch_mask_cpus

Rule rule_launch_mask_cpus() {
  using namespace launch_mask_cpus;
  return {
      .id = "launch/mask-cpus",
      .severity = diag::Severity::warning,
      .title = "Masks with CPUs that jobs cannot use",
      .why =
          "From 22.05 on a step fails with \"CPU binding outside of job step allocation\" when one bit of a "
          "mask is outside its CPUs: beyond the node's last one, or on a core that the site reserves.",
      .link = "https://slurm.schedmd.com/srun.html#OPT_cpu-bind",
      .bad = {R"(#!/bin/bash
#SBATCH -p standard-g -N1 -n8 --gpus-per-node=8 -A project_465000001 -t 10
srun --cpu-bind=mask_cpu:0xff000000000000,0xff00000000000000,0xff0000,0xff000000,0xff,0xff00,0xff00000000,0xff0000000000 python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -p standard-g -N1 -n1 --gpus-per-node=8 -A project_465000001 -t 10
srun --cpu-bind=map_cpu:1 python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
