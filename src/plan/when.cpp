// SPDX-License-Identifier: MIT
// Conditions of profile rules.
#include "plan/when.hpp"

#include <algorithm>

namespace hpcml::plan {

bool applies(const model::When& when, const JobFacts& facts) {
  const auto lists = [](const std::vector<std::string>& names, const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  return (!when.min_nodes || facts.nodes >= *when.min_nodes) &&
         (!when.max_nodes || facts.nodes <= *when.max_nodes) && (!when.gpus || *when.gpus == facts.gpus) &&
         (!when.container || *when.container == facts.container) && lists(when.partitions, facts.partition) &&
         lists(when.launchers, facts.launcher) && (!when.min_gpus || facts.gpu_count >= *when.min_gpus) &&
         (!when.max_gpus || facts.gpu_count <= *when.max_gpus) &&
         (!when.whole_nodes || *when.whole_nodes == facts.whole_nodes) &&
         lists(when.node_types, facts.node_type) && lists(when.gpu_types, facts.gpu_type) &&
         lists(when.qos, facts.qos);
}

} // namespace hpcml::plan
