// SPDX-License-Identifier: MIT
// Where hpcml affinity takes its node from.
#include "cli/affinity_node.hpp"

#include "cli/chosen_site.hpp"
#include "topo/live_node.hpp"
#include "topo/read_node.hpp"
#include "util/text.hpp"

namespace hpcml::cli {
namespace {

std::optional<topo::Node> live_node(Failure& failure) {
  auto node = topo::read_live_node();
  auto allowed = topo::read_allowed_cpus();
  if (!node || !allowed) {
    failure.say(k_world_failed, node ? allowed.error() : node.error());
    return std::nullopt;
  }
  node->name = "this node";
  node->allowed = *allowed & node->cpus.all();
  return *node;
}

/// The node type of the partition, or the first one with GPUs.
const model::NodeType* choose_type(const model::Site& site, const std::string& partition, Failure& failure) {
  std::vector<std::string> ids;
  if (const auto* found = site.find_partition(partition)) {
    ids = found->node_types;
  } else if (!partition.empty()) {
    std::vector<std::string> names;
    for (const auto& each : site.partitions) names.push_back(each.name);
    const auto near = util::nearest(partition, names);
    failure.say(k_usage, site.name + " has no partition " + partition,
                near ? "did you mean " + *near + "?" : "partitions: " + util::join(names, ", "));
    return nullptr;
  } else {
    for (const auto& type : site.node_types) ids.push_back(type.id);
  }
  const model::NodeType* first = nullptr;
  for (const auto& id : ids) {
    const model::NodeType* type = site.find_node_type(id);
    if (type && type->gpu) return type;
    if (!first) first = type;
  }
  if (!first)
    failure.say(k_cannot_satisfy, "the profile of " + site.name + " describes no nodes",
                "hpcml affinity live shows the node it runs on");
  return first;
}

} // namespace

std::optional<topo::Node> read_affinity_node(const AffinityOptions& options, const Context& context,
                                             Failure& failure, int& exit_code) {
  if (!options.topology.empty()) {
    auto node = topo::load_node(options.topology);
    if (node) return *node;
    failure.say(k_invalid_file, node.error());
    return std::nullopt;
  }
  if (options.site.empty()) return live_node(failure);
  const bool live = options.source == "live" || options.verify;
  const auto site = choose_site(options.site, context, exit_code);
  const model::NodeType* type = site ? choose_type(*site, options.partition, failure) : nullptr;
  if (!type) return std::nullopt;
  topo::Node profile = topo::make_node(*type);
  profile.name = site->name + ", " + type->id;
  if (!live) return profile;
  auto node = live_node(failure);
  if (node) topo::complete_from_profile(*node, profile);
  return node;
}

} // namespace hpcml::cli
