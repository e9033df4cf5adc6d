// SPDX-License-Identifier: MIT
#include "core/site_rules/placement.hpp"

#include <algorithm>

#include "core/site_rules/gpu_names.hpp"
#include "core/site_rules/limits.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

using Nodes = std::vector<const model::NodeType*>;

Nodes nodes_of(const model::Site& site, const model::Partition& partition) {
  Nodes nodes;
  for (const auto& id : partition.node_types)
    if (const auto* node = site.find_node_type(id)) nodes.push_back(node);
  return nodes;
}

/// Whether the job has GPUs. Who says nothing of them means all of a node in a request, and none in a script,
/// but where they come with the nodes.
bool wants_gpus(const model::Site& site, const ResourceRequest& demand) {
  if (demand.gpus_counted) return demand.gpus_per_node > 0;
  return demand.stage == RequestStage::request || gpus_come_with_nodes(site);
}

/// The partition of a job whose script names none: Slurm's default, whatever the job requests, or the one
/// that suits it of those that only the site may choose. Where one must be named, it most likely is the usual
/// one.
template <class Suits> const model::Partition* find_for_script(const model::Site& site, const Suits& suits) {
  if (const auto* usual = slurm_default_partition(site)) return usual;
  const bool must_name = must_name_partition(site);
  return site.default_partition([&](const auto& partition) {
    return (!partition.nameable || (must_name && partition.is_default)) && suits(partition);
  });
}

/// The partition of a job that names none: of a request the site's default if it suits, else the first that
/// does, of a script the one where Slurm puts it; and those that users may choose among.
void take_default(ResolvedPlacement& placement, const model::Site& site, const ResourceRequest& demand) {
  const bool gpus = wants_gpus(site, demand);
  const auto has_type = [&](const model::Partition& partition) {
    return demand.gpu_type.empty() || !nodes_with_type(nodes_of(site, partition), demand.gpu_type).empty();
  };
  const bool anywhere = std::any_of(site.partitions.begin(), site.partitions.end(), has_type);
  const auto* qos = site.find_qos(demand.qos);
  // Where the site chooses, the QoS that the job names states which of its partitions; where users choose,
  // both are reported to disagree.
  const auto suits = [&](const model::Partition& partition) {
    return partition.cpu_only != gpus && (!anywhere || has_type(partition)) &&
           (partition.nameable || is_place_of(qos, partition.name));
  };
  for (const auto& partition : site.partitions)
    if (partition.nameable && suits(partition)) placement.choices.push_back(partition.name);
  const bool request = demand.stage == RequestStage::request;
  const auto* chosen = request ? site.default_partition(suits) : find_for_script(site, suits);
  // Who has submitted a job under a QoS is where that is, whatever else the job asks for.
  const auto by_qos = [&](const model::Partition& partition) {
    return qos && !qos->partitions.empty() && !partition.nameable && is_place_of(qos, partition.name);
  };
  if (!chosen && demand.stage == RequestStage::submitted) chosen = site.default_partition(by_qos);
  // The script would name it. A job without GPUs that the site places goes to nodes that the profile omits.
  if (!chosen && request)
    chosen = site.default_partition(
        [&](const auto& partition) { return partition.is_default && (gpus || partition.nameable); });
  if (!chosen) return;
  placement.chosen_by = PartitionOriginKind::profile;
  if (request && !chosen->is_default && chosen->nameable) {
    // Two types of GPU nodes and no default: a guess might send the job to hardware that was not requested.
    if (demand.gpu_type.empty() || !anywhere || placement.choices.size() != 1) {
      placement.chosen_by = PartitionOriginKind::none;
      return;
    }
    placement.chosen_by = PartitionOriginKind::only_with_type;
  }
  placement.partitions.push_back(chosen);
  placement.sure =
      demand.stage != RequestStage::script || !chosen->nameable; // a command line may name another
}

void choose_partitions(ResolvedPlacement& placement, const model::Site& site, const ResourceRequest& demand) {
  for (const auto& name : demand.partitions)
    if (const auto* partition = site.find_partition(name)) placement.partitions.push_back(partition);
  placement.sure = !demand.partitions.empty() && placement.partitions.size() == demand.partitions.size();
  if (!placement.sure) placement.partitions.clear(); // one that the profile does not know may take the job
  if (!demand.partitions.empty()) placement.chosen_by = PartitionOriginKind::job;
  const auto policy = sbatch_option_rule(site, "partition", placement.facts).policy;
  const bool request = demand.stage == RequestStage::request;
  if (request && !demand.partitions.empty() && policy == model::OptionPolicy::forbidden)
    placement.partitions.clear();
  // Such profiles have stand-ins for the partitions, which a request can do without.
  else if (demand.partitions.empty() ||
           (request && placement.partitions.empty() && policy == model::OptionPolicy::discouraged))
    take_default(placement, site, demand);
}

/// What the profile lists of the node's features, with those that select it.
std::vector<std::string> features_of(const model::NodeType& node) {
  auto features = node.features;
  for (auto& feature : feature_names(node.constraint)) features.push_back(std::move(feature));
  return features;
}

enum class Match { yes, no, unknown };

Match match_features(const model::NodeType& node, const ResourceRequest& demand) {
  const auto known = features_of(node);
  if (known.empty()) return Match::unknown;
  const auto is_known = [&](const std::string& name) { return util::contains(known, name); };
  const bool any = demand.constraint.find_first_of("|[") != std::string::npos;
  const auto& names = demand.features;
  return (any ? std::any_of(names.begin(), names.end(), is_known)
              : std::all_of(names.begin(), names.end(), is_known))
             ? Match::yes
             : Match::no;
}

/// Keeps those for which `fits` holds if there are any.
template <class Fits> void narrow(Nodes& nodes, Fits fits) {
  if (std::any_of(nodes.begin(), nodes.end(), fits))
    std::erase_if(nodes, [&](const auto* node) { return !fits(node); });
}

/// True if the job names a partition that may have any nodes: one that the profile does not know. A profile
/// without partitions has all nodes with GPUs.
bool is_elsewhere(const model::Site& site, const ResourceRequest& demand) {
  return !demand.partitions.empty() && (!site.partitions.empty() || demand.gpus_per_node == 0);
}

/// All node types where the job may be, by its partitions alone.
void find_kinds(ResolvedPlacement& placement, const model::Site& site, const ResourceRequest& demand) {
  auto& kinds = placement.kinds;
  for (const auto* partition : placement.partitions)
    for (const auto* node : nodes_of(site, *partition))
      if (!util::contains(kinds, node)) kinds.push_back(node);
  if (!placement.partitions.empty()) return;
  if (demand.stage == RequestStage::request) {
    // With a wrong partition the rest of the request is still looked at where the site has one node type.
    const bool is_known = site.partitions.empty() || site.node_types.size() == 1;
    const bool leaves_gpus = demand.gpus_counted && !wants_gpus(site, demand);
    for (const auto& node : site.node_types)
      if (is_known && !(leaves_gpus && node.gpu && demand.partitions.empty())) kinds.push_back(&node);
    return;
  }
  if (is_elsewhere(site, demand)) return;
  // A site without partitions in its profile, or a script that only its GPUs or features place.
  for (const auto& node : site.node_types)
    // Profiles describe GPU nodes first: a job without GPUs may go to nodes that this one omits.
    if (demand.gpus_per_node > 0 ? node.gpu.has_value() : !node.gpu) kinds.push_back(&node);
  const auto is_placed = [&](const auto* node) {
    return (!demand.gpu_type.empty() && node->gpu && has_gpu_type(*node->gpu, demand.gpu_type)) ||
           (!demand.features.empty() && match_features(*node, demand) == Match::yes);
  };
  if (!site.partitions.empty() && std::none_of(kinds.begin(), kinds.end(), is_placed)) kinds.clear();
}

/// The first that gives what the request says of a node, else the one with the most GPUs: what is too much
/// for it is evaluated there.
const model::NodeType* best_of(const Nodes& nodes, const ResourceRequest& demand, unsigned gpus) {
  const auto fits = [&](const auto* node) { return gives(*node, gpus, demand.mem); };
  if (const auto found = std::find_if(nodes.begin(), nodes.end(), fits); found != nodes.end()) return *found;
  return *std::max_element(nodes.begin(), nodes.end(), [](const auto* a, const auto* b) {
    return (a->gpu ? a->gpu->per_node : 0) < (b->gpu ? b->gpu->per_node : 0);
  });
}

/// Of the nodes those that can have the job, by type and features.
void choose_nodes(ResolvedPlacement& placement, const ResourceRequest& demand) {
  auto& nodes = placement.nodes = placement.kinds;
  if (!demand.gpu_type.empty()) {
    auto typed = nodes_with_type(nodes, demand.gpu_type);
    placement.type_exists = !typed.empty() || nodes.empty();
    if (!typed.empty()) nodes = std::move(typed);
  }
  if (!demand.features.empty()) {
    narrow(nodes, [&](const auto* node) { return match_features(*node, demand) == Match::yes; });
    // The script goes where its features are; a request is planned with what the profile knows.
    if (demand.stage != RequestStage::request)
      std::erase_if(nodes, [&](const auto* node) { return match_features(*node, demand) == Match::no; });
  }
  if (demand.stage != RequestStage::request) {
    if (demand.gpus_on_node > 0)
      narrow(nodes,
             [&](const auto* node) { return node->gpu && node->gpu->per_node >= demand.gpus_on_node; });
    return;
  }
  if (nodes.empty()) return;
  // A MIG instance belongs to the first node type that has it.
  const bool typed = !demand.gpu_type.empty() && placement.type_exists;
  placement.slice = typed ? find_slice(*nodes.front()->gpu, demand.gpu_type) : nullptr;
  const unsigned gpus = demand.gpus_counted ? demand.gpus_per_node : placement.kinds.front()->gpu ? 1 : 0;
  placement.planned =
      placement.slice || !placement.type_exists ? nodes.front() : best_of(nodes, demand, gpus);
}

/// Whether the script of a request gets --exclusive, which the site or the QoS requires.
bool adds_exclusive(const model::Site& site, const ResolvedPlacement& placement) {
  const auto is_it = [](const std::string& option) {
    return option == "--exclusive" || option.starts_with("--exclusive=");
  };
  if (placement.qos && std::any_of(placement.qos->needs.begin(), placement.qos->needs.end(), is_it))
    return true;
  if (sbatch_option_rule(site, "exclusive", placement.facts).policy == model::OptionPolicy::required)
    return true;
  return std::any_of(site.common_options.begin(), site.common_options.end(), [&](const auto& rule) {
    return !rule.on_srun && is_it(rule.value) && applies(rule.when, placement.facts);
  });
}

JobFacts facts_of(const model::Site& site, const ResolvedPlacement& placement,
                  const ResourceRequest& demand) {
  JobFactsInput outline;
  outline.nodes = demand.nodes;
  outline.gpus_per_node = demand.gpus_per_node;
  const auto* node = placement.node();
  if (gpus_come_with_nodes(site) && node && node->gpu)
    outline.gpus_per_node = node->gpu->per_node;
  else
    outline.gpus_in_all = demand.gpus_in_all;
  outline.partition = placement.partition() ? placement.partition()->name : std::string();
  outline.launcher = demand.launcher;
  outline.container = demand.container;
  outline.image = demand.image;
  outline.node_type = node ? node->id : std::string();
  outline.gpu_type = demand.gpu_type;
  outline.qos = placement.qos ? placement.qos->name : demand.qos;
  outline.owns_nodes = placement.owner;
  return make_facts(site, outline);
}

} // namespace

bool gpus_come_with_nodes(const model::Site& site) {
  return site.gpu_request.style == model::GpuOptionStyle::none;
}

Nodes nodes_with_type(const Nodes& nodes, const std::string& type) {
  Nodes named, unnamed;
  for (const auto* node : nodes) {
    if (!node->gpu) continue;
    if (has_gpu_type(*node->gpu, type))
      named.push_back(node);
    else if (node->gpu->slurm_type.empty() && may_be_type(*node->gpu, type))
      unnamed.push_back(node);
  }
  return named.empty() ? unnamed : named;
}

std::vector<std::string> partitions_with_type(const model::Site& site, const std::string& type) {
  std::vector<std::string> names;
  for (const auto& partition : site.partitions)
    if (partition.nameable && !nodes_with_type(nodes_of(site, partition), type).empty())
      names.push_back(partition.name);
  return names;
}

bool gives(const model::NodeType& node, std::uint64_t gpus, const std::optional<model::MemSize>& memory) {
  return (gpus == 0 || (node.gpu && node.gpu->per_node >= gpus)) &&
         (!memory || !node.memory || *memory <= node.memory->value);
}

const model::Qos* choose_qos(const model::Site& site, const std::string& named,
                             const std::string& partition) {
  return named.empty() ? default_qos(site, partition) : site.find_qos(named);
}

std::vector<const model::NodeType*> nodes_with_other_share(const ResolvedPlacement& placement,
                                                           std::uint64_t gpus,
                                                           const std::optional<model::MemSize>& memory) {
  std::vector<const model::NodeType*> others;
  const auto* chosen = placement.node();
  for (const auto* node : placement.nodes)
    if (node != chosen && node->gpu && gives(*node, gpus, memory) &&
        !(node->cpus_per_gpu == chosen->cpus_per_gpu && node->mem_per_gpu == chosen->mem_per_gpu))
      others.push_back(node);
  return others;
}

bool is_offline(const model::Site& site, const std::vector<const model::Partition*>& partitions) {
  const auto& network = site.network;
  if (!network.internet_on_compute || !network.proxy.empty() || !network.proxy_module.empty() ||
      !network.allowed_hosts.empty())
    return false;
  const auto reaches = [&](const auto* partition) {
    return partition->internet.value_or(*network.internet_on_compute);
  };
  return partitions.empty() ? !*network.internet_on_compute
                            : std::none_of(partitions.begin(), partitions.end(), reaches);
}

bool takes_all_memory(const ResolvedPlacement& placement, const ResourceRequest& demand) {
  const auto is_shared = [](const model::Partition* partition) {
    return !partition->exclusive && !partition->slurm_exclusive.value_or(false);
  };
  const auto has_more = [&](const model::NodeType* node) {
    return node->gpu && node->gpu->per_node > demand.gpus_per_node;
  };
  const auto nodes = placement.planned ? std::vector{placement.planned} : placement.nodes;
  return demand.mem && demand.mem->mib() == 0 && demand.gpus_per_node > 0 && !demand.has("exclusive") &&
         !demand.has("oversubscribe") && !placement.owner && !placement.partitions.empty() &&
         !nodes.empty() && std::all_of(placement.partitions.begin(), placement.partitions.end(), is_shared) &&
         std::all_of(nodes.begin(), nodes.end(), has_more);
}

bool must_name_partition(const model::Site& site) {
  const auto& rule = site.flag("partition");
  return rule.policy == model::OptionPolicy::required && !rule.when.gpus;
}

const model::Partition* slurm_default_partition(const model::Site& site) {
  if (must_name_partition(site)) return nullptr;
  const model::Partition* chosen = nullptr;
  for (const auto& partition : site.partitions) {
    if (!partition.nameable || !partition.slurm_default.value_or(partition.is_default)) continue;
    if (!chosen || partition.slurm_default) chosen = &partition;
  }
  return chosen;
}

ResolvedPlacement place(const model::Site& site, const ResourceRequest& demand) {
  ResolvedPlacement placement;
  const bool request = demand.stage == RequestStage::request; // it is planned for the site that it is for
  if (demand.elsewhere && !request) return placement;
  placement.owner = demand.exclusive;
  placement.facts = facts_of(site, placement, demand);
  choose_partitions(placement, site, demand);
  find_kinds(placement, site, demand);
  choose_nodes(placement, demand);
  const auto* partition = placement.partition();
  placement.qos = choose_qos(site, demand.qos,
                             partition                       ? partition->name
                             : demand.partitions.size() == 1 ? demand.partitions.front()
                                                             : std::string());
  if (request && adds_exclusive(site, placement)) placement.owner = true;
  // The limits of a QoS or a reservation that the profile does not know may hold instead of the partition's.
  if (demand.reserved || (!demand.qos.empty() && !placement.qos)) placement.sure = false;
  if (demand.elsewhere) placement.type_exists = true; // for all that this profile knows
  placement.facts = facts_of(site, placement, demand);
  return placement;
}

} // namespace hpcml::site_rules
