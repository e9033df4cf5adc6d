// SPDX-License-Identifier: MIT
#include "emulate/cluster_layout.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/site_rules/placement.hpp"
#include "core/site_rules/site_text.hpp"
#include "core/util/choice_hint.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

constexpr unsigned k_max_nodes = 250; // one byte of the address, and far more than one machine can carry

util::Result<const model::Partition*> choose_partition(const model::Site& site, const std::string& name) {
  if (name.empty()) {
    if (const auto* found = site.default_partition([](const auto&) { return true; })) return found;
    return util::Error{
        fmt::format("the profile of {} has no partitions, so there is nothing to emulate", site.short_name()),
        "use a site with partitions: hpcml sites list"};
  }
  if (const auto* found = site.find_partition(name)) return found;
  std::vector<std::string> names;
  for (const auto& partition : site.partitions) names.push_back(partition.name);
  return util::Error{
      fmt::format("the profile of {} has no partition '{}' (--partition)", site.short_name(), name),
      util::choice_hint(name, names, site_rules::show_command(site))};
}

/// Interfaces that nodes of this type have: the type's own, then those that the site's network rules name.
std::vector<std::string> interface_names(const model::Site& site, const model::NodeType& type) {
  std::vector<std::string> names = type.interfaces;
  const auto add = [&](const std::string& name) {
    if (!name.empty()) util::add_once(names, name);
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

/// As many as the site has; where that is not known, more than a job takes.
unsigned count_nodes(const model::Site& site, const model::NodeType& type) {
  if (type.node_count) return *type.node_count;
  unsigned count = 1024;
  for (const auto& partition : site.partitions)
    if (partition.max_nodes && std::find(partition.node_types.begin(), partition.node_types.end(), type.id) !=
                                   partition.node_types.end())
      count = std::max(count, partition.max_nodes->value);
  return count;
}

bool has_described_nodes(const model::Site& site, const model::Partition& partition) {
  return std::any_of(partition.node_types.begin(), partition.node_types.end(),
                     [&](const auto& id) { return site.find_node_type(id) != nullptr; });
}

/// All nodes of all kinds; kinds of one name are numbered on. Where GPUs can be had in parts, some nodes have
/// only those.
std::vector<DormantNodes> all_nodes(const model::Site& site) {
  std::vector<DormantNodes> all;
  std::map<std::string, unsigned> next;
  const auto add = [&](const model::NodeType& type, unsigned count, bool slices) {
    unsigned& number = next[type.host_prefix];
    const auto first = node_name(type, number + 1), last = node_name(type, number + count);
    const auto prefix = type.host_prefix.empty() ? std::string("node") : type.host_prefix;
    all.push_back({&type,
                   first == last
                       ? first
                       : prefix + "[" + first.substr(prefix.size()) + "-" + last.substr(prefix.size()) + "]",
                   slices});
    number += count;
  };
  for (const auto& type : site.node_types) {
    add(type, std::max(1U, count_nodes(site, type)), false);
    if (type.gpu && !type.gpu->slices.empty()) add(type, 2, true);
  }
  all.push_back({nullptr, k_unknown_nodes, false});
  if (std::any_of(site.partitions.begin(), site.partitions.end(), [&](const auto& partition) {
        return partition.cpu_only && !has_described_nodes(site, partition);
      }))
    all.push_back({nullptr, k_unknown_cpu_nodes, false, true});
  return all;
}

/// Users of a site whose partitions cannot be named have to get the one that is emulated. Where the profile
/// does not state Slurm's default it is assumed to be hpcml's.
std::string default_name(const model::Site& site, const model::Partition& emulated) {
  if (site_rules::must_name_partition(site)) return {};
  if (!emulated.nameable) return emulated.name;
  if (const auto* usual = site_rules::slurm_default_partition(site)) return usual->name;
  for (const auto& partition : site.partitions)
    if (partition.is_default && partition.nameable) return partition.name;
  return {};
}

/// Whether users call these nodes so: by their id, their GPUs' type, or a feature.
bool is_called(const model::NodeType& type, const std::string& name) {
  return type.id == name || type.constraint == name || (type.gpu && type.gpu->slurm_type == name) ||
         std::find(type.features.begin(), type.features.end(), name) != type.features.end();
}

bool has_slice(const model::NodeType& type, const std::string& name) {
  return type.gpu && std::any_of(type.gpu->slices.begin(), type.gpu->slices.end(), [&](const auto& slice) {
           return name.empty() || slice.name == name ||
                  std::find(slice.aliases.begin(), slice.aliases.end(), name) != slice.aliases.end();
         });
}

/// Nodes to run of one kind.
struct Kind {
  const model::NodeType* type = nullptr;
  bool slices = false;
  unsigned count = 0;
};

/// Returns the partition's first node type with this name; without a name all types that the profile
/// describes well enough, those with GPU partitions last.
std::vector<Kind> find_kinds(const model::Site& site, const model::Partition& partition,
                             const std::string& name) {
  std::vector<Kind> whole, cut;
  for (const auto& id : partition.node_types) {
    const auto* type = site.find_node_type(id);
    if (type == nullptr || (name.empty() && type->cpu.cores == 0)) continue;
    if (name.empty() || is_called(*type, name)) whole.push_back({type});
    if (has_slice(*type, name)) cut.push_back({type, true});
  }
  whole.insert(whole.end(), cut.begin(), cut.end());
  if (!name.empty() && whole.size() > 1) whole.resize(1);
  return whole;
}

/// As many of each as asked for and there are; one node in parts is enough for jobs, which get one part.
util::Status count_kinds(std::vector<Kind>& kinds, const model::Site& site, const ClusterLayout& layout,
                         const ClusterRequest& request) {
  if (request.nodes == 0)
    return util::Error{"--nodes 0 is not valid: a cluster needs at least one node", "use --nodes 1 or more"};

  unsigned most = 0, total = 0;
  for (auto& kind : kinds) {
    const unsigned limit = kind.type->node_count.value_or(k_max_nodes);
    most = std::max(most, limit);
    kind.count = kind.slices && request.node_type.empty() ? 1 : std::min(request.nodes, limit);
    total += kind.count;
  }
  if (request.nodes <= most && total <= k_max_nodes) return util::Success{};
  if (request.nodes > most && most < k_max_nodes)
    return util::Error{fmt::format("cannot emulate {} nodes of partition {}: {} has only {}", request.nodes,
                                   layout.partition->name, site.short_name(), most),
                       fmt::format("use --nodes {} or fewer", most)};
  std::vector<std::string> types;
  for (const auto& kind : kinds) util::add_once(types, kind.type->id);
  return util::Error{fmt::format("cannot emulate {} nodes of partition {}: one machine can run at most {}",
                                 std::max(total, request.nodes), layout.partition->name, k_max_nodes),
                     kinds.size() > 1 ? fmt::format("use --node-type with one of {}", util::join(types, ", "))
                                      : fmt::format("use --nodes {} or fewer", k_max_nodes)};
}

/// The network of that interface, which the login node has as well.
std::size_t network_of(ClusterLayout& layout, const std::string& interface) {
  auto& known = layout.login_interfaces;
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& entry) { return entry.name == interface; });
  const auto network = static_cast<std::size_t>(found - known.begin());
  if (found == known.end()) known.push_back({interface, address(network, 0, 1)});
  return network;
}

/// The nodes that run; kinds of one name are numbered on.
void add_nodes(ClusterLayout& layout, const model::Site& site, const std::vector<Kind>& kinds) {
  std::map<std::string, unsigned> next;
  for (const auto& kind : kinds) {
    const auto interfaces = interface_names(site, *kind.type);
    for (unsigned i = 0; i < kind.count; ++i) {
      ClusterNode node{node_name(*kind.type, ++next[kind.type->host_prefix]),
                       kind.type,
                       kind.slices,
                       {},
                       layout.controller_port + 1,
                       {}};
      for (const auto& interface : interfaces)
        node.interfaces.push_back({interface, address(network_of(layout, interface), 1,
                                                      static_cast<unsigned>(layout.nodes.size()) + 1)});
      node.address = node.interfaces.front().ipv4;
      layout.nodes.push_back(std::move(node));
    }
  }
  layout.login_address = layout.login_interfaces.front().ipv4;
}

util::Error no_such_type(const model::Site& site, const ClusterRequest& request) {
  std::vector<std::string> names;
  for (const auto& type : site.node_types) names.push_back(type.id);
  return {fmt::format("{} has no nodes of type '{}'",
                      request.partition.empty()
                          ? site.short_name()
                          : fmt::format("partition {} of {}", request.partition, site.short_name()),
                      request.node_type),
          util::choice_hint(request.node_type, names, site_rules::show_command(site))};
}

util::Result<ClusterLayout> make_whole_layout(const model::Site& site) {
  if (site.node_types.empty() || site.partitions.empty())
    return util::Error{
        fmt::format("the profile of {} describes no nodes or no partitions, so there is nothing to emulate",
                    site.short_name()),
        "add --cpus-per-node, --gpus-per-node and --mem-per-node to describe a node"};
  ClusterLayout layout;
  layout.partition = site.default_partition([](const auto&) { return true; });
  for (const auto& id : layout.partition->node_types)
    if (layout.type == nullptr) layout.type = site.find_node_type(id);
  if (layout.type == nullptr) layout.type = &site.node_types.front();
  layout.dormant = all_nodes(site);
  // If the partition may be omitted, Slurm or the site chooses one, which the profile need not state.
  if (const auto* usual = site_rules::slurm_default_partition(site))
    layout.default_partition = usual->name;
  else if (!site_rules::must_name_partition(site))
    layout.default_partition = k_unknown_partition;
  layout.login_interfaces = {{"eth0", address(0, 0, 1)}};
  layout.login_address = layout.login_interfaces.front().ipv4;
  return layout;
}

} // namespace

util::Result<ClusterLayout> make_cluster_layout(const model::Site& site, const ClusterRequest& request) {
  if (request.whole_site) return make_whole_layout(site);
  TRY(const auto partition, choose_partition(site, request.partition));
  ClusterLayout layout;
  layout.partition = partition;
  auto kinds = find_kinds(site, *layout.partition, request.node_type);
  if (request.partition.empty() && !request.node_type.empty())
    for (const auto& candidate : site.partitions)
      if (kinds.empty()) {
        layout.partition = &candidate;
        kinds = find_kinds(site, candidate, request.node_type);
      }
  if (kinds.empty() && !request.node_type.empty()) return no_such_type(site, request);
  layout.default_partition = default_name(site, *layout.partition);
  const auto& ids = layout.partition->node_types;
  const auto described = std::find_if(ids.begin(), ids.end(),
                                      [&](const auto& id) { return site.find_node_type(id) != nullptr; });
  if (described == ids.end())
    return util::Error{
        fmt::format("the profile of {} does not describe the nodes of partition {}", site.short_name(),
                    layout.partition->name),
        fmt::format("use --partition with another of its partitions: {}", site_rules::show_command(site))};
  if (kinds.empty() || kinds.front().type->cpu.cores == 0)
    return util::Error{
        fmt::format("the profile of {} does not state how many cores the nodes of partition {} have",
                    site.short_name(), layout.partition->name),
        fmt::format("use another --partition, or add \"cpu\" to node type {} of the profile",
                    kinds.empty() ? *described : kinds.front().type->id)};
  layout.type = kinds.front().type;
  layout.name_suffix = site.network.master.suffix;
  TRY_DONE(count_kinds(kinds, site, layout, request));
  add_nodes(layout, site, kinds);
  return layout;
}

std::vector<std::vector<const ClusterNode*>> group_by_kind(const ClusterLayout& layout) {
  std::vector<std::vector<const ClusterNode*>> groups;
  for (const auto& node : layout.nodes) {
    if (groups.empty() || groups.back().front()->type != node.type ||
        groups.back().front()->slices != node.slices)
      groups.emplace_back();
    groups.back().push_back(&node);
  }
  return groups;
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
  if (!layout.name_suffix.empty())
    for (const auto& node : layout.nodes) text += node.address + " " + node.name + layout.name_suffix + "\n";
  // So that every peer has a name: also of the further interfaces, and for sockets that speak IPv6
  // (LibTorch's do).
  const auto add = [&](const std::string& host, const std::vector<SandboxInterface>& interfaces) {
    for (const auto& interface : interfaces)
      text += interface.ipv4 + " " + host + "-" + interface.name + "\n::ffff:" + interface.ipv4 + " " + host +
              "-" + interface.name + "\n";
  };
  add(layout.login_name, layout.login_interfaces);
  for (const auto& node : layout.nodes) add(node.name, node.interfaces);
  return text;
}

} // namespace hpcml::emulate
