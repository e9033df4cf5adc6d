// SPDX-License-Identifier: MIT
#include "check/site_fit.hpp"

#include <algorithm>

#include "plan/named_choice.hpp"
#include "plan/site_limits.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace {

using Nodes = std::vector<const model::NodeType*>;

template <class List, class T> bool has(const List& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

/// The type of GPU that the request names, in whichever option.
std::string gpu_type_of(const slurm::Request& request) {
  for (const auto& [option, items] : request.gres)
    for (const auto& item : items)
      if (item.name == "gpu" && !item.type.empty()) return item.type;
  return {};
}

Nodes nodes_of(const model::Site& site, const model::Partition& partition) {
  Nodes nodes;
  for (const auto& id : partition.node_types)
    if (const auto* node = site.find_node_type(id)) nodes.push_back(node);
  return nodes;
}

bool has_type(const Nodes& nodes, const std::string& type) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto* node) { return node->gpu && plan::has_gpu_type(*node->gpu, type); });
}

/// Keeps those for which `fits` holds if there are any.
template <class Fits> void narrow(Nodes& nodes, Fits fits) {
  if (std::any_of(nodes.begin(), nodes.end(), fits))
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), [&](const auto* node) { return !fits(node); }),
                nodes.end());
}

/// What the profile lists of the node's features, with those that select it.
std::vector<std::string> features_of(const model::NodeType& node) {
  auto features = node.features;
  for (const auto& all : util::split(node.constraint, '&'))
    for (const auto& one : util::split(all, '|'))
      if (!one.empty()) features.push_back(one);
  return features;
}

enum class Match { yes, no, unknown };

Match match_features(const model::NodeType& node, const slurm::Request& request) {
  const auto known = features_of(node);
  if (known.empty()) return Match::unknown;
  const auto is_known = [&](const std::string& name) { return has(known, name); };
  const auto text = request.text("constraint");
  const bool any = text.find_first_of("|[") != std::string::npos;
  const auto& names = request.features;
  return (any ? std::any_of(names.begin(), names.end(), is_known)
              : std::all_of(names.begin(), names.end(), is_known))
             ? Match::yes
             : Match::no;
}

bool gpus_come_with_nodes(const model::Site& site) { return site.gpu_request.style == model::GpuStyle::none; }

/// Which partition the job goes to where it names none: the profile's choice for such jobs. Certain only
/// where the site chooses itself.
void take_default(SiteFit& fit, const slurm::Request& request, const model::Site& site) {
  const auto* qos = site.find_qos(request.text("qos"));
  const bool cpu_job = fit.gpus_per_node == 0 && !gpus_come_with_nodes(site);
  const auto has_it = [&](const model::Partition& partition) {
    return has_type(nodes_of(site, partition), fit.gpu_type);
  };
  const bool typed =
      !fit.gpu_type.empty() && std::any_of(site.partitions.begin(), site.partitions.end(), has_it);
  const auto suits = [&](const model::Partition& partition) {
    return partition.cpu_only == cpu_job && (!typed || has_it(partition)) &&
           (partition.nameable || plan::is_place_of(qos, partition.name));
  };
  const model::Partition* chosen = nullptr;
  for (const auto& partition : site.partitions)
    if (suits(partition) && (partition.is_default || !partition.nameable) &&
        (!chosen || (partition.is_default && !chosen->is_default)))
      chosen = &partition;
  if (!chosen) return;
  fit.partitions.push_back(chosen);
  fit.sure = !chosen->nameable;
}

void choose_partitions(SiteFit& fit, const slurm::Request& request, const model::Site& site) {
  for (const auto& name : util::split(request.text("partition"), ','))
    if (!name.empty()) fit.named.push_back(name);
  for (const auto& name : fit.named)
    if (const auto* partition = site.find_partition(name)) fit.partitions.push_back(partition);
  fit.sure = !fit.named.empty() && fit.partitions.size() == fit.named.size();
  if (!fit.sure) fit.partitions.clear(); // one that the profile does not know may take the job
  if (fit.named.empty()) take_default(fit, request, site);
}

void choose_nodes(SiteFit& fit, const slurm::Request& request, const slurm::JobSize& size,
                  const model::Site& site) {
  // A site without partitions in its profile, or a request that only its GPUs or features place.
  const bool anywhere = fit.partitions.empty() && fit.named.empty();
  for (const auto* partition : fit.partitions)
    for (const auto* node : nodes_of(site, *partition))
      if (!has(fit.nodes, node)) fit.nodes.push_back(node);
  if (anywhere)
    for (const auto& node : site.node_types)
      // Profiles describe GPU nodes first: a job without GPUs may go to nodes that this one leaves out.
      if (fit.gpus_per_node > 0 ? node.gpu.has_value() : !node.gpu) fit.nodes.push_back(&node);
  const auto is_called = [&](const auto* node) {
    return node->gpu && plan::has_gpu_type(*node->gpu, fit.gpu_type);
  };
  const auto is_selected = [&](const auto* node) { return match_features(*node, request) == Match::yes; };
  if (anywhere && !site.partitions.empty() &&
      std::none_of(fit.nodes.begin(), fit.nodes.end(), [&](const auto* node) {
        return (!fit.gpu_type.empty() && is_called(node)) || (!request.features.empty() && is_selected(node));
      }))
    fit.nodes.clear();
  if (!fit.gpu_type.empty()) narrow(fit.nodes, is_called);
  if (!request.features.empty()) {
    narrow(fit.nodes, is_selected);
    fit.nodes.erase(
        std::remove_if(fit.nodes.begin(), fit.nodes.end(),
                       [&](const auto* node) { return match_features(*node, request) == Match::no; }),
        fit.nodes.end());
  }
  if (size.gpus_per_node > 0)
    narrow(fit.nodes,
           [&](const auto* node) { return node->gpu && node->gpu->per_node >= size.gpus_per_node; });
}

} // namespace

const model::FlagRule& SiteFit::flag(const model::Site& site, const std::string& name) const {
  static const model::FlagRule k_free;
  const auto* rule = plan::first_that_holds(site.flag(name), facts);
  return rule ? *rule : k_free;
}

const model::GpuRequest& SiteFit::gpu_request(const model::Site& site) const {
  const auto* rule = plan::first_that_holds(site.gpu_request, facts);
  return rule ? *rule : site.gpu_request;
}

std::optional<model::ContainerEngine> engine_of_option(std::string_view name) {
  if (util::starts_with(name, "container-")) return model::ContainerEngine::pyxis;
  if (name == "image" || name == "module" || name == "volume") return model::ContainerEngine::shifter;
  if (name == "uenv" || name == "view") return model::ContainerEngine::uenv;
  if (name == "environment") return model::ContainerEngine::edf;
  return std::nullopt;
}

bool is_site_option(const model::Site& site, std::string_view name) {
  const auto is_it = [&](std::string_view option) {
    return option.substr(0, 2) == "--" && option.substr(2, option.find_first_of("= ") - 2) == name;
  };
  if (site.flags.count(std::string(name)) > 0) return true;
  if (std::any_of(site.always.begin(), site.always.end(),
                  [&](const auto& rule) { return is_it(rule.value); }))
    return true;
  for (const auto& rule : site.containers) {
    if (is_it(rule.bind_option) || std::any_of(rule.options.begin(), rule.options.end(), is_it)) return true;
    if (rule.engine == engine_of_option(name)) return true; // a profile need not use it itself
  }
  return std::any_of(site.node_types.begin(), site.node_types.end(),
                     [&](const auto& node) { return is_it(node.local_disk_option); });
}

SiteFit fit_to_site(const slurm::Request& request, const slurm::JobSize& size, const model::Site& site) {
  SiteFit fit;
  if (request.has("clusters")) return fit; // another cluster, or one of several
  fit.gpu_type = gpu_type_of(request);
  fit.owner = request.sharing == slurm::Sharing::exclusive;
  const auto nodes = static_cast<unsigned>(std::max(1L, size.min_nodes));
  fit.gpus_per_node =
      static_cast<unsigned>(size.gpus_per_node > 0 ? size.gpus_per_node : (size.gpus + nodes - 1) / nodes);
  choose_partitions(fit, request, site);
  choose_nodes(fit, request, size, site);
  plan::JobOutline outline;
  outline.nodes = nodes;
  outline.gpus_per_node = fit.gpus_per_node;
  if (gpus_come_with_nodes(site) && !fit.nodes.empty() && fit.nodes.front()->gpu)
    outline.gpus_per_node = fit.nodes.front()->gpu->per_node;
  outline.partition = fit.partitions.empty() ? std::string() : fit.partitions.front()->name;
  outline.node_type = fit.nodes.empty() ? std::string() : fit.nodes.front()->id;
  outline.gpu_type = fit.gpu_type;
  fit.qos =
      request.has("qos") ? site.find_qos(request.text("qos")) : plan::default_qos(site, outline.partition);
  // The limits of a QoS or a reservation that the profile does not know may hold instead of the partition's.
  if (request.has("reservation") || (request.has("qos") && !fit.qos)) fit.sure = false;
  outline.qos = fit.qos ? fit.qos->name : request.text("qos");
  outline.owns_nodes = fit.owner;
  fit.facts = plan::make_facts(site, outline);
  return fit;
}

} // namespace hpcml::check
