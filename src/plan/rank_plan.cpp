// SPDX-License-Identifier: MIT
// plan_node and plan_rank: environment and binding of a node's ranks from the live node's facts.
#include "plan/rank_plan.hpp"

#include <algorithm>

#include "model/gpu_vendor.hpp"
#include "plan/environment.hpp"
#include "plan/plan_context.hpp"
#include "plan/profile_check.hpp"
#include "plan/threads.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

/// The profile's kind of node that this one is, and how it differs from it.
struct KindOfNode {
  const model::NodeType* type =
      nullptr;         ///< none: reserved cores and GPU places of another kind would be worse than none
  std::string warning; ///< empty: no difference
};

KindOfNode find_kind(const model::Site& site, const NodeFacts& facts) {
  std::vector<const model::NodeType*> candidates;
  if (const auto* promised = site.find_node_type(facts.job.node_type)) {
    candidates.push_back(promised);
  } else if (const auto* partition =
                 facts.partition.empty() ? nullptr : site.find_partition(facts.partition)) {
    for (const auto& id : partition->node_types)
      if (const auto* node = site.find_node_type(id)) candidates.push_back(node);
  } else {
    for (const auto& node : site.node_types) candidates.push_back(&node);
  }
  if (candidates.empty()) return {};
  const auto differences = [&](const model::NodeType& type) {
    return profile_differences(type, {facts.live_cpus, facts.node_gpus, facts.gpu_vendor});
  };
  const model::NodeType* nearest = nullptr;
  std::vector<std::string> least;
  for (const auto* type : candidates) {
    auto found = differences(*type);
    if (nearest && found.size() >= least.size()) continue;
    nearest = type;
    least = std::move(found);
  }
  const bool same_cores =
      nearest->cpu.cores == facts.live_cpus.cores && nearest->cpu.all().intersects(facts.live_cpus.all());
  KindOfNode kind{same_cores ? nearest : nullptr, ""};
  if (!least.empty())
    kind.warning = "this node is not what the profile of " + site.id + " says of " + nearest->id + ": " +
                   util::join(least, "; ") + (same_cores ? "" : "; it is planned from what it shows alone");
  return kind;
}

/// The GPUs to plan with: live locality where the node shows it, else the profile's, by the same indices.
std::vector<model::GpuPlace> gpu_places(const NodeFacts& facts, const model::NodeType* node) {
  std::vector<model::GpuPlace> places = facts.live_gpus;
  const bool known = std::any_of(places.begin(), places.end(), [](const auto& p) { return p.numa || p.l3; });
  if (!node || !node->gpu) return places;
  for (auto& place : places) {
    const auto same = std::find_if(node->gpu->places.begin(), node->gpu->places.end(),
                                   [&](const auto& p) { return p.index == place.index; });
    if (same == node->gpu->places.end()) continue;
    if (place.numa && same->numa && *place.numa != *same->numa)
      continue; // the L3 and the NIC would be wrong, too
    if (!known || !place.numa) place.numa = same->numa;
    if (!place.l3) place.l3 = same->l3;
    if (place.nic.empty()) place.nic = same->nic;
  }
  return places;
}

/// The RDMA device near a rank's first GPU; empty where none is known.
topo::NicChoice near_to(const model::PlannedRankBinding& binding,
                        const std::vector<topo::NicChoice>& choices) {
  if (binding.gpus.empty() || binding.gpus.front() >= choices.size()) return {};
  return choices[binding.gpus.front()];
}

/// The NIC that the node shows beside the rank's first GPU, else the profile's.
void choose_nic(model::PlannedRankBinding& binding, const topo::NearNics& nics) {
  if (binding.gpus.empty()) return;
  const auto interface = near_to(binding, nics.interfaces), device = near_to(binding, nics.devices);
  std::string why = "the profile says so";
  if (!interface.nic.empty())
    binding.nic = interface.nic, why = interface.why;
  else if (binding.nic.empty())
    binding.nic = device.nic, why = device.why;
  if (!binding.nic.empty()) binding.why += "; NIC " + binding.nic + ": " + why;
}

void set_nic_variables(RankPlan& plan, const topo::NearNics& nics) {
  if (plan.binding.gpus.empty()) return;
  const auto device = near_to(plan.binding, nics.devices);
  const auto set = [&](const char* name, const std::string& value, const char* reason) {
    const bool there = std::any_of(plan.env.begin(), plan.env.end(),
                                   [&](const auto& variable) { return variable.name == name; });
    if (!there && !value.empty())
      plan.env.push_back({name, value, false, model::Scope::task, by_rule(reason)});
  };
  // NCCL itself finds the nearest of the devices that it may take; it has to see the same ones in every rank.
  set("NCCL_IB_HCA", nics.fabric, "the node has RDMA devices on Ethernet beside those of its fabric");
  set("UCX_NET_DEVICES", device.nic.empty() ? "" : device.nic + ":1",
      "the RDMA device nearest the rank's GPU");
}

/// What the rules of the profile ask about the job: as the script promised it, else as the node shows it.
site::JobFacts job_facts(const model::Site& site, const NodeFacts& facts, const RankRequest& request,
                         const model::NodeType* node) {
  site::JobOutline job;
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
  return site::make_facts(site, job);
}

unsigned bound_cores(const model::CpuShape& shape, const model::IdSet& cpus) {
  unsigned cores = 0;
  for (const auto& core : shape.core_threads) cores += core.intersects(cpus) ? 1 : 0;
  return cores;
}

} // namespace

model::IdSet reserved_cpus(const model::Site& site, const NodeFacts& facts) {
  const auto* node = find_kind(site, facts).type;
  return node ? node->cpu.reserved & facts.live_cpus.all() : model::IdSet();
}

NodePlan plan_node(const model::Site& site, const NodeFacts& facts, const RankRequest& request) {
  NodePlan plan;
  plan.request = request;
  const auto kind = find_kind(site, facts);
  const model::NodeType* node = kind.type;
  if (!kind.warning.empty()) plan.node_warnings.push_back(kind.warning);
  model::CpuShape shape = facts.live_cpus;
  if (node) shape.reserved = node->cpu.reserved & shape.all();
  const std::vector<model::GpuPlace> places =
      request.gpus_per_rank == 0 ? std::vector<model::GpuPlace>{} : gpu_places(facts, node);

  auto wanted = make_affinity_request(facts.local_world_size, request.gpus_per_rank, request.cpus_per_rank,
                                      places.size());
  wanted.allowed = facts.allowed;
  wanted.threads_per_core = request.threads_per_core;
  wanted.spill = request.spill == model::CoreSpill::package;
  topo::AffinityPlan affinity = topo::plan_affinity(shape, places, wanted);
  plan.ranks = std::move(affinity.ranks);
  plan.warnings = std::move(affinity.warnings);
  for (auto& rank : plan.ranks) choose_nic(rank, facts.nics);
  plan.nics = facts.nics;
  plan.node.cpus = std::move(shape);
  plan.node.allowed = facts.allowed;
  for (const auto& place : places) {
    plan.node.gpus.emplace_back();
    plan.node.gpus.back().place = place;
  }
  topo::complete_node(plan.node);

  auto vendor = facts.gpu_vendor;
  if (vendor == model::GpuVendor::unknown && node && node->gpu) vendor = node->gpu->vendor;
  if (vendor == model::GpuVendor::unknown) vendor = site.gpu_vendor();
  const site::JobFacts job = job_facts(site, facts, request, node);
  plan.env = site_environment(site, job, vendor);
  plan.caches = site_caches(site, job);
  plan.gpu_visibility = request.gpu_visibility.value_or(site.gpu_visibility.mode);
  if (!facts.live_gpus.empty() && plan.gpu_visibility == model::GpusSeen::own)
    plan.visible_variable = model::visible_devices_variable(vendor);
  return plan;
}

RankPlan plan_rank(const model::Site& site, const NodePlan& node, unsigned local_rank) {
  RankPlan plan;
  plan.env = node.env;
  plan.binding.local_rank = local_rank;
  if (local_rank < node.ranks.size()) plan.binding = node.ranks[local_rank];
  const auto& request = node.request;
  const unsigned cores =
      plan.binding.cpus.empty() ? request.cpus_per_rank : bound_cores(node.node.cpus, plan.binding.cpus);
  const auto threads = plan.binding.cpus.empty() ? cores * request.threads_per_core
                                                 : static_cast<unsigned>(plan.binding.cpus.size());
  if (threads < cores * request.threads_per_core)
    plan.warnings.push_back(std::to_string(request.threads_per_core) +
                            " hardware threads of each core were asked for; the step was given " +
                            std::to_string(threads) + " for the " + std::to_string(cores) +
                            " cores of this rank");
  for (auto& variable :
       thread_environment(site, {cores, !node.node.gpus.empty(), request.dataloader_workers, threads}))
    set_variable(plan.env, std::move(variable), "the rank's cores");
  set_nic_variables(plan, node.nics);
  return plan;
}

} // namespace hpcml::plan
