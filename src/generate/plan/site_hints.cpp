// SPDX-License-Identifier: MIT
#include "generate/plan/site_hints.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::plan {

std::string partitions_for(const LayoutInput& input, unsigned long long have,
                           model::Known<unsigned> model::Limits::*least,
                           model::Known<unsigned> model::Limits::*most) {
  std::vector<std::string> names;
  for (const auto& partition : input.site.partitions) {
    const auto &low = partition.*least, &high = partition.*most;
    const bool same_nodes =
        input.node() && std::find(partition.node_types.begin(), partition.node_types.end(),
                                  input.node()->id) != partition.node_types.end();
    if (partition.nameable && same_nodes && (!low || have >= low->value) && (!high || have <= high->value))
      names.push_back(partition.name);
  }
  return names.empty() ? "" : "these take so many: " + util::join(names, ", ");
}

std::string qos_for(const LayoutInput& input, unsigned long long have,
                    model::Known<unsigned> model::Limits::*most) {
  std::vector<std::string> names;
  for (const auto& qos : input.site.qos)
    if (!qos.on_request && (!(qos.*most) || have <= (qos.*most)->value) &&
        (!input.partition() || !input.partition()->nameable ||
         site_rules::is_place_of(&qos, input.partition()->name)))
      names.push_back("--qos " + qos.name);
  return names.empty() ? ""
                       : "these take so many, for all that the profile knows: " + util::join(names, ", ");
}

std::string partitions_with_nodes(const LayoutInput& input, unsigned long long nodes) {
  std::vector<std::string> names;
  for (const auto& candidate : input.site.partitions)
    if (candidate.nameable && input.partition() && candidate.cpu_only == input.partition()->cpu_only &&
        (!candidate.max_nodes || candidate.max_nodes->value >= nodes))
      names.push_back(candidate.name);
  return util::join(names, ", ");
}

std::string partitions_that_allow(const LayoutInput& input, model::Walltime time) {
  std::vector<std::string> names;
  const unsigned gpus = input.numbers().nodes_asked() * input.numbers().gpus_per_node;
  for (const auto& candidate : input.site.partitions) {
    const auto limit = site_rules::time_limit(candidate, input.numbers().nodes_asked(), gpus);
    const bool nodes_fit =
        !candidate.max_nodes || input.numbers().nodes_asked() <= candidate.max_nodes->value;
    const bool same_nodes =
        !input.node() || std::find(candidate.node_types.begin(), candidate.node_types.end(),
                                   input.node()->id) != candidate.node_types.end();
    if (candidate.nameable && nodes_fit && same_nodes && limit && time <= limit->value)
      names.push_back(candidate.name + " (" + limit->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

std::string qos_that_allow(const LayoutInput& input, model::Walltime time) {
  std::vector<std::string> names;
  for (const auto& candidate : input.site.qos) {
    const bool is_offered = !input.partition() || !input.partition()->nameable ||
                            site_rules::is_place_of(&candidate, input.partition()->name);
    const bool fits = (!candidate.max_nodes || input.numbers().nodes_asked() <= candidate.max_nodes->value) &&
                      (!candidate.max_gpus || input.numbers().nodes_asked() * input.numbers().gpus_per_node <=
                                                  candidate.max_gpus->value);
    if (is_offered && fits && !candidate.on_request && candidate.max_time &&
        time <= candidate.max_time->value)
      names.push_back("--qos " + candidate.name + " (" + candidate.max_time->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

std::string partitions_with_gpus(const LayoutInput& input, unsigned long long gpus) {
  std::vector<std::string> names;
  for (const auto& partition : input.site.partitions) {
    const bool enough =
        std::any_of(partition.node_types.begin(), partition.node_types.end(), [&](const auto& id) {
          const auto* node = input.site.find_node_type(id);
          return node && node->gpu && node->gpu->per_node >= gpus;
        });
    if (partition.nameable && enough) names.push_back(partition.name);
  }
  return util::join(names, ", ");
}

} // namespace hpcml::plan
