// SPDX-License-Identifier: MIT
// The planner's chain from the live node's facts: placement, layout, and what each rank gets.
#include "generate/plan/rank_plan.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/model/gpu_vendor.hpp"
#include "core/util/text.hpp"
#include "generate/plan/environment.hpp"
#include "generate/plan/launch_plan.hpp"
#include "generate/plan/profile_check.hpp"
#include "generate/plan/threads.hpp"

namespace hpcml::plan {
namespace {

/// The node types that this one may be.
std::vector<const model::NodeType*> candidates(const model::Site& site, const StepNodeFacts& facts) {
  std::vector<const model::NodeType*> types;
  if (const auto* promised = site.find_node_type(facts.job.node_type)) return {promised};
  if (const auto* partition = site.find_partition(facts.partition)) {
    for (const auto& id : partition->node_types)
      if (const auto* node = site.find_node_type(id)) types.push_back(node);
    return types;
  }
  for (const auto& node : site.node_types) types.push_back(&node);
  return types;
}

/// The profile's node type that this one is; none where its cores are others: reserved cores and GPU places
/// of another kind would be worse than none.
PlanStepResult<const model::NodeType*> find_kind(const model::Site& site, const StepNodeFacts& facts) {
  const model::NodeType* nearest = nullptr;
  std::vector<std::string> least;
  for (const auto* type : candidates(site, facts)) {
    auto found = profile_differences(*type, {facts.live_cpus, facts.node_gpus, facts.gpu_vendor});
    if (nearest && found.size() >= least.size()) continue;
    nearest = type;
    least = std::move(found);
  }
  if (!nearest) return {nullptr};
  const bool same_cores =
      nearest->cpu.cores == facts.live_cpus.cores && nearest->cpu.all().intersects(facts.live_cpus.all());
  PlanStepResult<const model::NodeType*> kind{same_cores ? nearest : nullptr};
  const char* effect = same_cores ? "" : "; hpcml ignores the profile's description of this node";
  if (!least.empty())
    kind.remarks.warning(
        "launch/profile",
        fmt::format("this node differs from node type {1} in the profile of {0}: {2}{3}\nhint: check --site, "
                    "or run hpcml sites diff {0} on a login node to find what to correct in the profile",
                    site.id, nearest->id, util::join(least, "; "), effect));
  return kind;
}

/// The GPUs to plan with: live locality where the node shows it, else the profile's, by the same indices.
std::vector<model::GpuLocality> gpu_places(const StepNodeFacts& facts, const model::NodeType* node) {
  std::vector<model::GpuLocality> places = facts.live_gpus;
  const bool known = std::any_of(places.begin(), places.end(), [](const auto& p) { return p.numa || p.l3; });
  if (!node || !node->gpu) return places;
  for (auto& place : places) {
    const auto same = std::find_if(node->gpu->places.begin(), node->gpu->places.end(),
                                   [&](const auto& p) { return p.index == place.index; });
    if (same == node->gpu->places.end()) continue;
    if (place.numa && same->numa && *place.numa != *same->numa)
      continue; // the L3 and the NIC would be wrong as well
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

/// The NIC that the node shows next to the rank's first GPU, else the profile's.
void choose_nic(model::PlannedRankBinding& binding, const topo::NearestNicPerGpu& nics) {
  if (binding.gpus.empty()) return;
  const auto interface = near_to(binding, nics.interfaces), device = near_to(binding, nics.devices);
  std::string why = "the profile states it";
  if (!interface.nic.empty())
    binding.nic = interface.nic, why = interface.why;
  else if (binding.nic.empty())
    binding.nic = device.nic, why = device.why;
  if (!binding.nic.empty()) binding.why += "; NIC " + binding.nic + ": " + why;
}

void set_nic_variables(RankPlan& plan, const topo::NearestNicPerGpu& nics) {
  if (plan.binding.gpus.empty()) return;
  const auto device = near_to(plan.binding, nics.devices);
  const auto set = [&](const char* name, const std::string& value, const char* reason) {
    const bool is_set = std::any_of(plan.env.begin(), plan.env.end(),
                                    [&](const auto& variable) { return variable.name == name; });
    if (!is_set && !value.empty())
      plan.env.push_back({name, value, false, model::ValueScope::task, rule_origin(reason)});
  };
  // NCCL itself finds the nearest of the devices that it may take; it has to see the same ones in every rank.
  set("NCCL_IB_HCA", nics.fabric,
      "the node has RDMA devices on Ethernet in addition to those of its high-speed network");
  set("UCX_NET_DEVICES", device.nic.empty() ? "" : device.nic + ":1",
      "the RDMA device nearest the rank's GPU");
}

unsigned bound_cores(const model::CpuShape& shape, const model::IdSet& cpus) {
  unsigned cores = 0;
  for (const auto& core : shape.core_threads) cores += core.intersects(cpus) ? 1 : 0;
  return cores;
}

} // namespace

PlanStepResult<Placement> place_node(const model::Site& site, const StepNodeFacts& facts) {
  PlanStepResult<Placement> result{
      {{}, facts.partition, facts.job.node_type, facts.job.gpu_type, facts.job.qos}};
  auto& placement = result.value;
  if (const auto* partition = site.find_partition(facts.partition))
    placement.place.partitions.push_back(partition);
  const auto* node = placement.place.planned = unwrap(find_kind(site, facts), result.remarks);
  if (placement.node_type.empty() && node) placement.node_type = node->id;
  placement.gpu_vendor = facts.gpu_vendor;
  if (placement.gpu_vendor == model::GpuVendor::unknown && node && node->gpu)
    placement.gpu_vendor = node->gpu->vendor;
  if (placement.gpu_vendor == model::GpuVendor::unknown) placement.gpu_vendor = site.gpu_vendor();
  return result;
}

model::IdSet reserved_cpus(const Placement& placement, const model::CpuShape& live) {
  const auto* node = placement.place.node();
  return node ? node->cpu.reserved & live.all() : model::IdSet();
}

Layout lay_out_node(const model::Site& site, const Placement& placement, const StepNodeFacts& facts,
                    const RankOptions& request) {
  Layout layout;
  auto& numbers = layout.numbers;
  numbers.nodes = facts.node_count;
  numbers.ranks_per_node = numbers.tasks_per_node = facts.local_world_size;
  numbers.gpus_per_rank = request.gpus_per_rank;
  numbers.cpus_per_rank = request.cpus_per_rank;
  numbers.threads_per_core = request.threads_per_core;
  const auto seen = static_cast<unsigned>(facts.live_gpus.size());
  numbers.gpus_per_node = facts.job.gpus_per_node ? *facts.job.gpus_per_node
                          : seen == 0             ? 0
                                      : std::max(seen, facts.local_world_size * request.gpus_per_rank);
  // Who knows what the job asked for need not take what the step has for it.
  const bool owns_nodes = !facts.job.gpus_per_node && facts.owns_node;
  layout.facts = facts_of(site, placement, numbers,
                          {model::Launcher().name(), facts.container, owns_nodes, facts.image});
  return layout;
}

NodePlan plan_node(const model::Site& site, const Placement& placement, const StepNodeFacts& facts,
                   const RankOptions& request) {
  NodePlan plan;
  plan.request = request;
  plan.layout = lay_out_node(site, placement, facts, request);
  model::CpuShape shape = facts.live_cpus;
  if (placement.place.node()) shape.reserved = reserved_cpus(placement, shape);
  const std::vector<model::GpuLocality> places = request.gpus_per_rank == 0
                                                     ? std::vector<model::GpuLocality>{}
                                                     : gpu_places(facts, placement.place.node());

  auto wanted = make_affinity_request(plan.layout.numbers, request.idle_cores, places.size());
  wanted.allowed = facts.allowed;
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

  plan.env = site_environment(site, plan.layout.facts, placement.gpu_vendor);
  plan.caches = site_caches(site, plan.layout.facts);
  plan.gpu_visibility = request.gpu_visibility.value_or(site.gpu_visibility.mode);
  if (!facts.live_gpus.empty() && plan.gpu_visibility == model::GpuVisibilityMode::own)
    plan.visible_variable = model::visible_devices_variable(placement.gpu_vendor);
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
    plan.warnings.push_back(fmt::format(
        "{0} hardware threads of each core were requested, but the step got {1} for the {2} cores of this "
        "rank\nhint: use srun --threads-per-core={0}, or remove --threads-per-core from hpcml launch",
        request.threads_per_core, threads, cores));
  for (auto& variable :
       thread_environment(site, {cores, !node.node.gpus.empty(), request.dataloader_workers, threads}))
    set_variable(plan.env, std::move(variable), "the rank's cores");
  set_nic_variables(plan, node.nics);
  return plan;
}

} // namespace hpcml::plan
