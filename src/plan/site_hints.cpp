// SPDX-License-Identifier: MIT
#include "plan/site_hints.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::plan {

std::string partitions_for(const LaidOut& input, unsigned long long have,
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

std::string qos_for(const LaidOut& input, unsigned long long have,
                    model::Known<unsigned> model::Limits::*most) {
  std::vector<std::string> names;
  for (const auto& other : input.site.qos)
    if (!other.on_request && (!(other.*most) || have <= (other.*most)->value) &&
        (!input.partition() || !input.partition()->nameable ||
         site::is_place_of(&other, input.partition()->name)))
      names.push_back("--qos " + other.name);
  return names.empty() ? ""
                       : "these take so many, for all that the profile knows: " + util::join(names, ", ");
}

std::string partitions_with_nodes(const LaidOut& input, unsigned long long nodes) {
  std::vector<std::string> names;
  for (const auto& other : input.site.partitions)
    if (other.nameable && input.partition() && other.cpu_only == input.partition()->cpu_only &&
        (!other.max_nodes || other.max_nodes->value >= nodes))
      names.push_back(other.name);
  return util::join(names, ", ");
}

std::string partitions_that_allow(const LaidOut& input, model::Walltime time) {
  std::vector<std::string> names;
  const unsigned gpus = input.numbers().nodes_asked() * input.numbers().gpus_per_node;
  for (const auto& other : input.site.partitions) {
    const auto limit = site::time_limit(other, input.numbers().nodes_asked(), gpus);
    const bool nodes_fit = !other.max_nodes || input.numbers().nodes_asked() <= other.max_nodes->value;
    const bool same_nodes = !input.node() || std::find(other.node_types.begin(), other.node_types.end(),
                                                       input.node()->id) != other.node_types.end();
    if (other.nameable && nodes_fit && same_nodes && limit && time <= limit->value)
      names.push_back(other.name + " (" + limit->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

std::string qos_that_allow(const LaidOut& input, model::Walltime time) {
  std::vector<std::string> names;
  for (const auto& other : input.site.qos) {
    const bool is_offered = !input.partition() || !input.partition()->nameable ||
                      site::is_place_of(&other, input.partition()->name);
    const bool fits = (!other.max_nodes || input.numbers().nodes_asked() <= other.max_nodes->value) &&
                      (!other.max_gpus || input.numbers().nodes_asked() * input.numbers().gpus_per_node <=
                                              other.max_gpus->value);
    if (is_offered && fits && !other.on_request && other.max_time && time <= other.max_time->value)
      names.push_back("--qos " + other.name + " (" + other.max_time->value.to_slurm() + ")");
  }
  return util::join(names, ", ");
}

std::string partitions_with_gpus(const LaidOut& input, unsigned long long gpus) {
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
