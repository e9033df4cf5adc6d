// SPDX-License-Identifier: MIT
// Masks that bind tasks away from the GPU they take.
#include <algorithm>
#include <fmt/format.h>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/masks.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace launch_mask_gpu_order {

/// The CPUs next to the GPU; empty where the profile does not state.
model::IdSet near(const model::NodeType& node, const model::GpuLocality& place) {
  for (const auto& domain : node.cpu.l3)
    if (place.l3 && domain.id == *place.l3) return domain.cpus;
  for (const auto& domain : node.cpu.numa)
    if (place.numa && domain.id == *place.numa) return domain.cpus;
  return {};
}

/// The GPU that each task takes: of its number, but where hpcml's own launch says another order; nothing
/// where that is not known.
std::vector<std::size_t> gpus_of_tasks(const Launch& launch, std::size_t count) {
  std::vector<std::size_t> gpus(count);
  for (std::size_t i = 0; i < count; ++i) gpus[i] = i;
  const auto* own = launch.find("hpcml");
  const auto order = own ? own->value("rank-order") : std::nullopt;
  if (!order || *order == "gpu") return gpus;
  const auto numbers = util::split(*order, ',');
  if (numbers.size() != count) return {};
  for (std::size_t i = 0; i < count; ++i) gpus[i] = util::parse_unsigned(numbers[i]).value_or(count);
  return std::any_of(gpus.begin(), gpus.end(), [&](const auto gpu) { return gpu >= count; })
             ? std::vector<std::size_t>()
             : gpus;
}

RuleMatches find(const LintContext& subject) {
  const auto* node = only_node(subject);
  if (!node || !node->gpu || node->gpu->places.empty()) return {};
  if (subject.demands.front().gpus_per_node == 0 && !site_rules::gpus_come_with_nodes(*subject.site))
    return {}; // whose tasks take none
  const auto& places = node->gpu->places;
  RuleMatches hits;
  for (const auto& [launch, step, masks] : masked_launches(subject)) {
    if (step->find("gpu-bind") || step->find("gpus-per-task") || subject.directive("gpu-bind")) continue;
    const auto shape = shape_of(subject, *launch);
    // Which GPU a task takes is known only where there is one for each.
    if (!shape.tasks_per_node || static_cast<std::size_t>(*shape.tasks_per_node) != places.size() ||
        masks.masks.size() != places.size())
      continue;
    std::string away;
    std::size_t first = places.size();
    const auto gpus = gpus_of_tasks(*launch, places.size());
    for (std::size_t i = 0; i < gpus.size(); ++i) {
      const auto domain = near(*node, places[gpus[i]]);
      if (domain.empty() || masks.masks[i].intersects(domain)) continue;
      first = std::min(first, i);
      away += (away.empty() ? "" : ", ") + std::to_string(i);
    }
    if (first == places.size()) continue;
    add_match(
        hits,
        {masks.option->place,
         fmt::format(
             "tasks {} run far from the GPU of their number: GPU {} is attached to CPUs {}, not to {}", away,
             gpus[first], near(*node, places[gpus[first]]).to_list(), masks.masks[first].to_list()),
         fmt::format("run hpcml affinity --site {} for masks in the order of the GPUs", subject.site->id)});
  }
  return hits;
}

} // namespace launch_mask_gpu_order

Rule rule_launch_mask_gpu_order() {
  using namespace launch_mask_gpu_order;
  return {
      .id = "launch/mask-gpu-order",
      .severity = diag::Severity::warning,
      .title = "Masks far from the GPUs",
      .why = "GPUs are rarely numbered in the order of the CPUs. A task bound to the wrong part of the node "
             "reaches its GPU and network card through other "
             "tasks' memory paths, which costs bandwidth on every copy.",
      .link = "https://docs.lumi-supercomputer.eu/runjobs/scheduled-jobs/distribution-binding/",
      .bad = {R"(#!/bin/bash
#SBATCH --partition=standard-g --nodes=1 --ntasks-per-node=8 --gpus-per-node=8 --account=project_465000001 --time=10
srun --cpu-bind=mask_cpu:0xfe,0xfe00,0xfe0000,0xfe000000,0xfe00000000,0xfe0000000000,0xfe000000000000,0xfe00000000000000 python train.py
)",
              "lumi"},
      .good = {R"(#!/bin/bash
#SBATCH -p standard-g -N1 --ntasks-per-node=8 --gpus-per-node=8 -A project_465000001 -t 10
srun --cpu-bind=mask_cpu:0xfe,0xfe00,0xfe0000,0xfe000000,0xfe00000000,0xfe0000000000,0xfe000000000000,0xfe00000000000000 hpcml launch --rank-order 4,5,2,3,6,7,0,1 -- python train.py
)",
               "lumi"},
      .find = find,
  };
}

} // namespace hpcml::check
