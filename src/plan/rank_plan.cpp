// SPDX-License-Identifier: MIT
// plan_rank: environment and binding of one rank from the live node's facts.
#include "plan/rank_plan.hpp"

#include <algorithm>

#include "model/gpu_vendor.hpp"
#include "plan/environment.hpp"
#include "topo/affinity.hpp"

namespace hpcml::plan {
namespace {

/// The profile's node type for this node: by partition, then by the number of CPUs; nothing if none fits.
const model::NodeType* find_node(const model::Site& site, const RankFacts& facts) {
  std::vector<const model::NodeType*> candidates;
  if (const auto* promised = site.find_node_type(facts.job.node_type)) {
    candidates.push_back(promised);
  } else if (const auto* partition = facts.partition.empty() ? nullptr : site.find_partition(facts.partition)) {
    for (const auto& id : partition->node_types)
      if (const auto* node = site.find_node_type(id)) candidates.push_back(node);
  } else {
    for (const auto& node : site.node_types) candidates.push_back(&node);
  }
  // Reserved cores and GPU places of another kind of node would be worse than none.
  for (const auto* node : candidates)
    if (node->cpu.all() == facts.live_cpus.all()) return node;
  return nullptr;
}

/// The GPUs to plan with: live locality where the node shows it, else the profile's, by the same indices.
std::vector<model::GpuPlace> gpu_places(const RankFacts& facts, const model::NodeType* node,
                                        std::vector<std::string>& warnings) {
  std::vector<model::GpuPlace> places = facts.live_gpus;
  const bool known = std::any_of(places.begin(), places.end(), [](const auto& p) { return p.numa || p.l3; });
  if (!node || !node->gpu) return places;
  for (auto& place : places) {
    const auto same = std::find_if(node->gpu->places.begin(), node->gpu->places.end(),
                                   [&](const auto& p) { return p.index == place.index; });
    if (same == node->gpu->places.end()) continue;
    if (place.numa && same->numa && *place.numa != *same->numa) {
      warnings.push_back("GPU " + std::to_string(place.index) + " is under NUMA " +
                         std::to_string(*place.numa) + " here, the profile says " +
                         std::to_string(*same->numa) + ": the live value is used");
      continue;
    }
    if (!known || !place.numa) place.numa = same->numa;
    if (!place.l3) place.l3 = same->l3;
    if (place.nic.empty()) place.nic = same->nic;
  }
  return places;
}

/// What the rules of the profile ask about the job: as the script promised it, else as the node shows it.
JobFacts job_facts(const model::Site& site, const RankFacts& facts, const RankRequest& request, const model::NodeType* node) {
  JobOutline job;
  job.nodes = facts.node_count;
  job.partition = facts.partition;
  job.launcher = model::Launcher().name();
  job.container = facts.container;
  job.node_type = !facts.job.node_type.empty() ? facts.job.node_type : node ? node->id : "";
  job.gpu_type = facts.job.gpu_type;
  job.qos = facts.job.qos;
  if (facts.job.gpus_per_node) {
    job.gpus_per_node = *facts.job.gpus_per_node;
  } else {
    const auto seen = static_cast<unsigned>(facts.live_gpus.size());
    job.gpus_per_node = seen == 0 ? 0 : std::max(seen, facts.local_world_size * request.gpus_per_rank);
    job.owns_nodes = facts.owns_node;
  }
  return make_facts(site, job);
}

unsigned bound_cores(const model::CpuShape& shape, const model::IdSet& cpus) {
  unsigned cores = 0;
  for (const auto& core : shape.core_threads) cores += core.intersects(cpus) ? 1 : 0;
  return cores;
}

} // namespace

RankPlan plan_rank(const model::Site& site, const RankFacts& facts, const RankRequest& request) {
  RankPlan plan;
  const model::NodeType* node = find_node(site, facts);
  model::CpuShape shape = facts.live_cpus;
  if (node) shape.reserved = node->cpu.reserved & shape.all();
  const bool gpus = !facts.live_gpus.empty();
  const std::vector<model::GpuPlace> places =
      request.gpus_per_rank == 0 ? std::vector<model::GpuPlace>{} : gpu_places(facts, node, plan.warnings);

  topo::AffinityRequest wanted;
  wanted.ranks = facts.local_world_size;
  wanted.gpus_per_rank = wanted.ranks * request.gpus_per_rank <= places.size() ? request.gpus_per_rank : 0;
  wanted.cpus_per_rank = request.cpus_per_rank;
  wanted.allowed = facts.allowed;
  const topo::AffinityPlan affinity = topo::plan_affinity(shape, places, wanted);
  plan.binding.local_rank = facts.local_rank;
  if (facts.local_rank < affinity.ranks.size()) plan.binding = affinity.ranks[facts.local_rank];
  plan.warnings.insert(plan.warnings.end(), affinity.warnings.begin(), affinity.warnings.end());

  std::string vendor = facts.gpu_vendor;
  if (vendor.empty() && node && node->gpu) vendor = node->gpu->vendor;
  for (const auto& type : site.node_types)
    if (vendor.empty() && type.gpu) vendor = type.gpu->vendor;
  const JobFacts job = job_facts(site, facts, request, node);
  plan.env = site_environment(site, job, vendor);
  const unsigned cores =
      plan.binding.cpus.empty() ? request.cpus_per_rank : bound_cores(shape, plan.binding.cpus);
  if (cores > 0)
    for (auto& variable : openmp_environment(site, cores))
      set_variable(plan.env, std::move(variable), "the rank's cores");
  plan.caches = site_caches(site, job);
  plan.gpu_visibility = request.gpu_visibility.empty() ? site.gpu_visibility.mode : request.gpu_visibility;
  if (gpus && plan.gpu_visibility == "own") plan.visible_variable = model::visible_devices_variable(vendor);
  return plan;
}

} // namespace hpcml::plan
