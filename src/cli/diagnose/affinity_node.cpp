// SPDX-License-Identifier: MIT
// Where hpcml affinity takes its node from.
#include "cli/diagnose/affinity_node.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "cli/chosen_site.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/topo/live_node.hpp"
#include "core/topo/read_node.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {
namespace {

std::optional<topo::Node> live_node(CommandErrorReporter& failure) {
  auto node = topo::read_live_node();
  auto allowed = topo::read_allowed_cpus();
  if (!node || !allowed) {
    failure.print(k_world_failed, node ? allowed.error() : node.error());
    return std::nullopt;
  }
  node->name = "this node";
  node->allowed = *allowed & node->cpus.all();
  return *node;
}

/// Of the CPUs that the site leaves to jobs this process has all, or a part.
AffinityTargetNode with_own_part(topo::Node node) {
  const bool whole = (node.cpus.all() - node.cpus.reserved).is_subset_of(node.allowed);
  auto shared = whole ? std::string() : fmt::format("this process has only CPUs {}", node.allowed.to_list());
  return {std::move(node), std::move(shared)};
}

/// The node type of the partition, or the first one with GPUs.
const model::NodeType* choose_type(const model::Site& site, const std::string& partition,
                                   CommandErrorReporter& failure) {
  std::vector<std::string> ids;
  if (const auto* found = site.find_partition(partition)) {
    ids = found->node_types;
  } else if (!partition.empty()) {
    std::vector<std::string> names;
    for (const auto& each : site.partitions) names.push_back(each.name);
    failure.print(k_cannot_satisfy,
                  fmt::format("the profile of {} has no partition '{}'", site.name, partition),
                  util::choice_hint(partition, names, site_rules::show_command(site)));
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
    failure.print(k_cannot_satisfy, fmt::format("the profile of {} describes no nodes", site.name),
                  "run hpcml affinity live on a node of the site, or use --topology FILE");
  return first;
}

std::string why_shared(const model::Site& site, const model::NodeType& type, const std::string& partition) {
  const bool whole = std::any_of(site.partitions.begin(), site.partitions.end(), [&](const auto& each) {
    const bool has =
        std::find(each.node_types.begin(), each.node_types.end(), type.id) != each.node_types.end();
    return each.exclusive && (partition.empty() ? has : each.name == partition);
  });
  if (whole) return {};
  return partition.empty()
             ? "the profile names no partition that allocates such nodes whole"
             : fmt::format("the profile does not state that partition {} allocates whole nodes", partition);
}

} // namespace

std::optional<AffinityTargetNode> read_affinity_node(const AffinityOptions& options, const Context& context,
                                                     CommandErrorReporter& failure, int& exit_code) {
  if (!options.topology.empty()) {
    auto node = topo::load_node(options.topology);
    if (node) return AffinityTargetNode{*node, ""};
    failure.print(k_invalid_file, node.error());
    return std::nullopt;
  }
  if (options.site.empty()) {
    auto node = live_node(failure);
    return node ? std::optional(with_own_part(std::move(*node))) : std::nullopt;
  }
  const bool live = options.source == "live" || options.verify;
  const auto site = choose_site(options.site, context, exit_code);
  const model::NodeType* type = site ? choose_type(*site, options.partition, failure) : nullptr;
  if (!type) return std::nullopt;
  topo::Node profile = topo::make_node(*type);
  profile.name = site->name + ", " + type->id;
  if (!live) return AffinityTargetNode{profile, why_shared(*site, *type, options.partition)};
  auto node = live_node(failure);
  if (!node) return std::nullopt;
  topo::complete_from_profile(*node, profile);
  return with_own_part(std::move(*node));
}

} // namespace hpcml::cli
