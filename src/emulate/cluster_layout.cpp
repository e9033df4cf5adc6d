// SPDX-License-Identifier: MIT
#include "emulate/cluster_layout.hpp"

#include <algorithm>
#include <map>

#include "util/text.hpp"

namespace hpcml::emulate {

namespace {

constexpr unsigned k_max_nodes = 250; // one byte of the address, and far more than one machine can carry

util::Result<const model::Partition*> choose_partition(const model::Site& site, const std::string& name) {
  if (name.empty()) {
    if (const auto* found = site.default_partition([](const auto&) { return true; })) return found;
    return util::Error{"the profile of " + site.short_name() +
                           " names no partition, so there is nothing to emulate",
                       "choose a site with partitions: hpcml sites list"};
  }
  if (const auto* found = site.find_partition(name)) return found;
  std::vector<std::string> names;
  for (const auto& partition : site.partitions) names.push_back(partition.name);
  const auto near = util::nearest(name, names);
  return util::Error{site.short_name() + " has no partition \"" + name + "\"",
                     near ? "did you mean " + *near + "?" : "it has: " + util::join(names, ", ")};
}

/// Interfaces that nodes of this type have: the type's own, then those that the site's network rules name.
std::vector<std::string> interface_names(const model::Site& site, const model::NodeType& type) {
  std::vector<std::string> names = type.interfaces;
  const auto add = [&](const std::string& name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (names.empty())
    for (const auto& name : site.network.interfaces) add(name);
  add(site.network.master.interface);
  if (names.empty()) names.push_back("eth0");
  return names;
}

std::string address(std::size_t network, unsigned third, unsigned fourth) {
  return "10." + std::to_string(66 + network) + "." + std::to_string(third) + "." + std::to_string(fourth);
}

std::string node_name(const model::NodeType& type, unsigned number) {
  std::string digits = std::to_string(number);
  if (digits.size() < type.host_digits) digits.insert(0, type.host_digits - digits.size(), '0');
  return (type.host_prefix.empty() ? "node" : type.host_prefix) + digits;
}

/// As many as the site has; where that is not known, as one job may take or more.
unsigned count_nodes(const model::Site& site, const model::NodeType& type) {
  if (type.node_count) return *type.node_count;
  unsigned count = 64;
  for (const auto& partition : site.partitions)
    if (partition.max_nodes && std::find(partition.node_types.begin(), partition.node_types.end(), type.id) != partition.node_types.end())
      count = std::max(count, partition.max_nodes->value);
  return count;
}

/// All nodes of all kinds; kinds of one name are numbered on. Where GPUs can be had in parts, some nodes have only those.
std::vector<DormantNodes> all_nodes(const model::Site& site) {
  std::vector<DormantNodes> all;
  std::map<std::string, unsigned> next;
  const auto add = [&](const model::NodeType& type, unsigned count, bool slices) {
    unsigned& number = next[type.host_prefix];
    const auto first = node_name(type, number + 1), last = node_name(type, number + count);
    const auto prefix = type.host_prefix.empty() ? std::string("node") : type.host_prefix;
    all.push_back({&type, first == last ? first : prefix + "[" + first.substr(prefix.size()) + "-" + last.substr(prefix.size()) + "]", slices});
    number += count;
  };
  for (const auto& type : site.node_types) {
    add(type, std::max(1U, count_nodes(site, type)), false);
    if (type.gpu && !type.gpu->slices.empty()) add(type, 2, true);
  }
  all.push_back({nullptr, "unknown[1-64]", false});
  return all;
}

} // namespace

namespace {

/// Whether every job names its partition: a rule for jobs with GPUs leaves the others a default.
bool must_name_partition(const model::Site& site) {
  const auto& rule = site.flag("partition");
  return rule.policy == model::Policy::required && !rule.when.gpus;
}

/// Users of a site whose partitions cannot be named have to get the one that is emulated.
std::string default_name(const model::Site& site, const model::Partition& emulated) {
  if (must_name_partition(site)) return {};
  if (!emulated.nameable) return emulated.name;
  for (const auto& partition : site.partitions)
    if (partition.is_default && partition.nameable) return partition.name;
  return {};
}

/// Whether people call these nodes so: by their id, their GPUs' type, or a feature.
bool is_called(const model::NodeType& type, const std::string& name) {
  return type.id == name || type.constraint == name || (type.gpu && type.gpu->slurm_type == name) ||
         std::find(type.features.begin(), type.features.end(), name) != type.features.end();
}

/// The partition's first kind of node, or its first that is called so.
const model::NodeType* find_type(const model::Site& site, const model::Partition& partition, const std::string& name) {
  for (const auto& id : partition.node_types)
    if (const auto* type = site.find_node_type(id); type != nullptr && (name.empty() || is_called(*type, name))) return type;
  return nullptr;
}

util::Error no_such_type(const model::Site& site, const ClusterRequest& request) {
  std::vector<std::string> names;
  for (const auto& type : site.node_types) names.push_back(type.id);
  const auto near = util::nearest(request.node_type, names);
  return {(request.partition.empty() ? site.short_name() : "partition " + request.partition + " of " + site.short_name()) + " has no nodes called \"" + request.node_type + "\"",
          near ? "did you mean " + *near + "?" : "the site's kinds of nodes: " + util::join(names, ", ")};
}

util::Result<ClusterLayout> make_whole_layout(const model::Site& site) {
  if (site.node_types.empty() || site.partitions.empty())
    return util::Error{"the profile of " + site.short_name() + " describes no nodes or no partitions, so there is nothing to emulate",
                       "say what a node has: --cpus-per-node, --gpus-per-node, --mem-per-node"};
  ClusterLayout layout;
  layout.partition = site.default_partition([](const auto&) { return true; });
  for (const auto& id : layout.partition->node_types)
    if (layout.type == nullptr) layout.type = site.find_node_type(id);
  if (layout.type == nullptr) layout.type = &site.node_types.front();
  layout.dormant = all_nodes(site);
  // A profile's default is what gen takes; where partitions need not be named Slurm has one of its own.
  if (!must_name_partition(site)) layout.default_partition = layout.partition->nameable ? k_unknown_partition : layout.partition->name;
  layout.login_interfaces = {{"eth0", address(0, 0, 1)}};
  layout.login_address = layout.login_interfaces.front().ipv4;
  return layout;
}

} // namespace

util::Result<ClusterLayout> make_cluster_layout(const model::Site& site, const ClusterRequest& request) {
  if (request.whole_site) return make_whole_layout(site);
  const auto partition = choose_partition(site, request.partition);
  if (!partition) return partition.error();
  ClusterLayout layout;
  layout.partition = *partition;
  layout.type = find_type(site, *layout.partition, request.node_type);
  if (layout.type == nullptr && request.partition.empty())
    for (const auto& other : site.partitions)
      if (const auto* found = find_type(site, other, request.node_type); found != nullptr && layout.type == nullptr && !request.node_type.empty()) {
        layout.partition = &other;
        layout.type = found;
      }
  if (layout.type == nullptr && !request.node_type.empty()) return no_such_type(site, request);
  layout.default_partition = default_name(site, *layout.partition);
  if (layout.type == nullptr)
    return util::Error{"the profile of " + site.short_name() + " does not describe the nodes of partition " +
                           layout.partition->name,
                       "choose another with --partition"};
  if (layout.type->cpu.cores == 0)
    return util::Error{"the profile of " + site.short_name() + " does not say how many cores the nodes of partition " +
                           layout.partition->name + " have",
                       "choose another with --partition, or add \"cpu\" to node type " + layout.type->id};
  if (request.nodes == 0) return util::Error{"a cluster needs at least one node", "give --nodes 1 or more"};
  const unsigned limit = std::min(k_max_nodes, layout.type->node_count.value_or(k_max_nodes));
  if (request.nodes > limit)
    return util::Error{
        "cannot emulate " + std::to_string(request.nodes) + " nodes of " + layout.partition->name,
        limit == k_max_nodes ? "at most 250 fit on one machine"
                             : site.short_name() + " has " + std::to_string(limit) + " of them"};
  const auto interfaces = interface_names(site, *layout.type);
  for (std::size_t k = 0; k < interfaces.size(); ++k)
    layout.login_interfaces.push_back({interfaces[k], address(k, 0, 1)});
  layout.login_address = layout.login_interfaces.front().ipv4;
  for (unsigned i = 1; i <= request.nodes; ++i) {
    ClusterNode node{node_name(*layout.type, i), {}, layout.controller_port + 1, {}};
    for (std::size_t k = 0; k < interfaces.size(); ++k)
      node.interfaces.push_back({interfaces[k], address(k, 1, i)});
    node.address = node.interfaces.front().ipv4;
    layout.nodes.push_back(std::move(node));
  }
  return layout;
}

ClusterLayout on_loopback(ClusterLayout layout, unsigned first_port) {
  layout.login_address = "127.0.0.1";
  layout.login_interfaces.clear();
  layout.controller_port = first_port;
  for (std::size_t i = 0; i < layout.nodes.size(); ++i) {
    layout.nodes[i].address = "127.0.0.1";
    layout.nodes[i].port = first_port + 1 + static_cast<unsigned>(i);
    layout.nodes[i].interfaces.clear();
  }
  return layout;
}

std::string render_hosts(const ClusterLayout& layout) {
  std::string text = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
  text += layout.login_address + " " + layout.login_name + "\n";
  for (const auto& node : layout.nodes) text += node.address + " " + node.name + "\n";
  // So that every peer has a name: also of the further interfaces, and for sockets that speak IPv6 (LibTorch's do).
  const auto add = [&](const std::string& host, const std::vector<SandboxInterface>& interfaces) {
    for (const auto& interface : interfaces)
      text += interface.ipv4 + " " + host + "-" + interface.name + "\n::ffff:" + interface.ipv4 + " " + host + "-" + interface.name + "\n";
  };
  add(layout.login_name, layout.login_interfaces);
  for (const auto& node : layout.nodes) add(node.name, node.interfaces);
  return text;
}

} // namespace hpcml::emulate
