// SPDX-License-Identifier: MIT
#include "core/site_rules/limits.hpp"

#include <cstdint>

#include "core/util/text.hpp"

namespace hpcml::site_rules {
model::Known<model::Walltime> time_limit(const model::Partition& partition, unsigned nodes, unsigned gpus) {
  using Limit = model::Sourced<model::Walltime>;
  for (const auto& step : partition.max_time_by_gpus)
    if (gpus >= step.min_gpus && (step.max_gpus == 0 || gpus <= step.max_gpus))
      return Limit{step.time, partition.origin};
  for (const auto& step : partition.max_time_by_nodes)
    if (nodes >= step.min_nodes && (step.max_nodes == 0 || nodes <= step.max_nodes))
      return Limit{step.time, partition.origin};
  return partition.max_time;
}

bool is_place_of(const model::Qos* qos, const std::string& partition) {
  return !qos || qos->partitions.empty() || util::contains(qos->partitions, partition);
}

const model::Qos* default_qos(const model::Site& site, const std::string& partition) {
  for (const auto& qos : site.qos)
    if (qos.is_default && is_place_of(&qos, partition)) return &qos;
  return nullptr;
}

unsigned usable_cores(const model::NodeType& node) {
  unsigned cores = node.cpu.cores;
  for (const auto& core : node.cpu.core_threads)
    if (core.intersects(node.cpu.reserved)) --cores;
  return cores;
}

std::vector<GpuCountFault> gpu_count_faults(const model::GpuRequestRule& rule, unsigned nodes,
                                            unsigned gpus_per_node, unsigned per_node) {
  std::vector<GpuCountFault> faults;
  if (gpus_per_node == 0) return faults;
  const auto& counts = rule.allowed_counts;
  if (!counts.empty() && !util::contains(counts, gpus_per_node)) faults.push_back(GpuCountFault::not_listed);
  if (rule.whole_nodes_if_several && nodes > 1 && per_node > 0 && gpus_per_node != per_node)
    faults.push_back(GpuCountFault::part_of_nodes);
  const bool listed = nodes == 1 && util::contains(counts, gpus_per_node);
  const auto all = std::uint64_t{nodes} * gpus_per_node;
  if (all % rule.multiple_of != 0 && !listed) faults.push_back(GpuCountFault::not_multiple);
  return faults;
}

} // namespace hpcml::site_rules
