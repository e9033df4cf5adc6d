// SPDX-License-Identifier: MIT
// What is known of the place where the new job runs.
#include <algorithm>

#include "generate/import_script/import_state.hpp"

namespace hpcml::import_script {

const model::Partition* target_partition(const ImportState& porting) {
  const auto& site = porting.to;
  if (!porting.chosen.partition.empty()) return site.find_partition(porting.chosen.partition);
  if (porting.result.job.partition) return site.find_partition(porting.result.job.partition->value);
  const auto usual = std::find_if(site.partitions.begin(), site.partitions.end(), [](const auto& partition) {
    return partition.is_default && !partition.cpu_only;
  });
  return usual == site.partitions.end() ? nullptr : &*usual;
}

model::GpuVendor vendor_of_target(const ImportState& porting) {
  const auto* node = target_node(porting);
  return node && node->gpu ? node->gpu->vendor : model::GpuVendor::unknown;
}

const model::NodeType* target_node(const ImportState& porting) {
  const auto* place = target_partition(porting);
  const model::NodeType* best = nullptr;
  for (const auto& node : porting.to.node_types) {
    const bool reachable = !place || std::find(place->node_types.begin(), place->node_types.end(), node.id) !=
                                         place->node_types.end();
    if (reachable && node.gpu && (!best || node.gpu->per_node > best->gpu->per_node)) best = &node;
  }
  return best;
}

bool has_srun(const model::Site& site) {
  const auto usual = std::find_if(site.launchers.begin(), site.launchers.end(),
                                  [](const auto& launcher) { return launcher.is_default; });
  return site.launchers.empty() ||
         (usual == site.launchers.end() ? site.launchers.front() : *usual).name == "srun";
}

} // namespace hpcml::import_script
