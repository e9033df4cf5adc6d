// SPDX-License-Identifier: MIT
#include "check/site_fit.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::check {
namespace {

bool has_gpu_type(const model::NodeType& node, const std::string& type) {
  if (!node.gpu) return false;
  const auto is_called = [&](const std::string& name, const std::vector<std::string>& aliases) {
    return name == type || std::find(aliases.begin(), aliases.end(), type) != aliases.end();
  };
  return is_called(node.gpu->slurm_type, node.gpu->aliases) ||
         std::any_of(node.gpu->slices.begin(), node.gpu->slices.end(), [&](const auto& slice) { return is_called(slice.name, slice.aliases); });
}

/// The type of GPU that the request names, in whichever option.
std::string gpu_type_of(const slurm::Request& request) {
  for (const auto& [option, items] : request.gres)
    for (const auto& item : items)
      if (item.name == "gpu" && !item.type.empty()) return item.type;
  return {};
}

void add_nodes(SiteFit& fit, const model::Site& site) {
  if (site.partitions.empty()) {
    for (const auto& node : site.node_types) fit.nodes.push_back(&node);
    return;
  }
  for (const auto* partition : fit.partitions)
    for (const auto& id : partition->node_types)
      if (const auto* node = site.find_node_type(id); node && std::find(fit.nodes.begin(), fit.nodes.end(), node) == fit.nodes.end()) fit.nodes.push_back(node);
}

} // namespace

SiteFit fit_to_site(const slurm::Request& request, const slurm::JobSize& size, const model::Site& site) {
  SiteFit fit;
  for (const auto& name : util::split(request.text("partition"), ','))
    if (!name.empty()) fit.named.push_back(name);
  for (const auto& name : fit.named)
    if (const auto* partition = site.find_partition(name)) fit.partitions.push_back(partition);
  // Which one Slurm takes for a job that names none is known only where the profile says so.
  if (fit.named.empty())
    for (const auto& partition : site.partitions)
      if (partition.is_default && partition.nameable) fit.partitions.push_back(&partition);
  if (fit.named.empty() && fit.partitions.size() != 1) fit.partitions.clear();
  add_nodes(fit, site);
  const auto type = gpu_type_of(request);
  if (!type.empty() && std::any_of(fit.nodes.begin(), fit.nodes.end(), [&](const auto* node) { return has_gpu_type(*node, type); }))
    fit.nodes.erase(std::remove_if(fit.nodes.begin(), fit.nodes.end(), [&](const auto* node) { return !has_gpu_type(*node, type); }), fit.nodes.end());
  if (request.has("qos")) fit.qos = site.find_qos(request.text("qos"));
  plan::JobOutline outline;
  outline.nodes = static_cast<unsigned>(std::max(1L, size.min_nodes));
  outline.gpus_per_node = static_cast<unsigned>(size.gpus_per_node > 0 ? size.gpus_per_node : size.gpus / outline.nodes);
  outline.partition = fit.partitions.empty() ? std::string() : fit.partitions.front()->name;
  outline.node_type = fit.nodes.empty() ? std::string() : fit.nodes.front()->id;
  outline.gpu_type = type;
  outline.qos = request.text("qos");
  outline.owns_nodes = request.sharing == slurm::Sharing::exclusive;
  fit.facts = plan::make_facts(site, outline);
  return fit;
}

} // namespace hpcml::check
