// SPDX-License-Identifier: MIT
// Numbers and types of GPUs.
#include "core/site_rules/gpu_names.hpp"

#include "core/site_rules/limits.hpp"
#include "core/site_rules/policy_evaluation_context.hpp"
#include <fmt/format.h>

namespace hpcml::site_rules {
namespace {

using model::Limits;

bool has_gpus(const model::NodeType* node) { return node->gpu.has_value(); }

/// True if the job names no partition and gets one of those that the profile describes, of which it does not
/// state which.
bool is_unplaced(const PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  return !job.is_request() && demand.partitions.empty() && placement.kinds.empty() &&
         demand.features.empty() && site.other_partitions.empty();
}

/// All GPU nodes of the site.
std::vector<const model::NodeType*> gpu_nodes(const model::Site& site) {
  std::vector<const model::NodeType*> nodes;
  for (const auto& node : site.node_types)
    if (node.gpu) nodes.push_back(&node);
  return nodes;
}

/// Where the job may land; a script for a partition that the profile does not know is compared with the nodes
/// with the named type of GPU, one without a partition with all that have GPUs.
std::vector<const model::NodeType*> candidates(const PolicyEvaluationContext& job) {
  auto nodes = job.nodes();
  const auto& type = job.demand.gpu_type;
  const bool unplaced = type.empty() && is_unplaced(job);
  if (!nodes.empty() || job.is_request() || (type.empty() && !unplaced)) return nodes;
  nodes = gpu_nodes(job.site);
  std::erase_if(nodes, [&](const auto* node) { return !unplaced && !has_gpu_type(*node->gpu, type); });
  return nodes;
}

/// The one of the nodes that has the most GPUs; nothing where one is not known, or has parts of GPUs that are
/// counted.
const model::NodeType* richest(const PolicyEvaluationContext& job,
                               const std::vector<const model::NodeType*>& nodes) {
  const model::NodeType* most = nullptr;
  for (const auto* node : nodes) {
    if (!node->gpu) continue;
    if (node->gpu->per_node == 0 || find_slice(*node->gpu, job.demand.gpu_type)) return nullptr;
    if (!most || node->gpu->per_node > most->gpu->per_node) most = node;
  }
  return most;
}

/// Whether no node of the job's partitions has a GPU.
bool is_for_cpus(const PolicyEvaluationContext& job) {
  const auto& partitions = job.placement.partitions;
  const auto nodes = job.nodes();
  if (job.is_request() && !nodes.empty()) return std::none_of(nodes.begin(), nodes.end(), has_gpus);
  return !partitions.empty() && !(job.is_request() && job.demand.partitions.empty()) &&
         std::all_of(partitions.begin(), partitions.end(),
                     [](const auto* partition) { return partition->cpu_only; });
}

void evaluate_room(PolicyEvaluationContext& job) {
  const auto& demand = job.demand;
  if (is_for_cpus(job)) {
    const auto nodes = job.nodes();
    const auto* partition = job.placement.partition();
    auto& violation = job.add(SiteRule::gpus_on_cpu_nodes, job.certainty(), demand.gpus_per_node, 0,
                              partition ? partition->origin : nodes.front()->origin);
    if (partition) violation.name = partition->name;
    if (!nodes.empty()) violation.node = nodes.front();
  }
  const auto nodes = candidates(job);
  const auto* node = richest(job, nodes);
  if (!node) return;
  const std::uint64_t most = node->gpu->per_node, all = demand.nodes * most;
  PolicyViolation* violation = nullptr;
  // Of GPUs in parts a node has more than of whole ones, and a job that names no type gets either.
  const bool may_be_parts = !job.is_request() && demand.gpu_type.empty() &&
                            std::any_of(nodes.begin(), nodes.end(), [](const auto* kind) {
                              return kind->gpu && !kind->gpu->slices.empty();
                            });
  const auto certainty = may_be_parts ? Confidence::likely : job.certainty();
  if (demand.gpus_on_node > most)
    violation = &job.add(SiteRule::gpus_of_node, certainty, demand.gpus_on_node, most, nodes.front()->origin);
  else if (demand.nodes_exact && demand.gpus_in_all > all)
    violation = &job.add(SiteRule::gpus_on_nodes, certainty, demand.gpus_in_all, most, nodes.front()->origin);
  if (violation) violation->node = node;
}

void evaluate_counts(PolicyEvaluationContext& job) {
  const auto& demand = job.demand;
  const auto nodes = job.nodes();
  if (!job.is_request() && (nodes.empty() || !nodes.front()->gpu)) return;
  const auto* gpu = nodes.empty() || !nodes.front()->gpu ? nullptr : &*nodes.front()->gpu;
  const auto& rule = gpu_rule(job.site, job.placement.facts);
  const bool part_of_gpu = gpu && find_slice(*gpu, demand.gpu_type) && rule.allowed_counts.empty();
  if (demand.gpus_spread || part_of_gpu || (gpu && demand.gpus_per_node > gpu->per_node)) return;
  const unsigned per_node = gpu ? gpu->per_node : 0;
  for (const auto fault : gpu_count_faults(rule, demand.nodes, demand.gpus_per_node, per_node)) {
    const bool in_all = fault == GpuCountFault::not_multiple;
    const auto what = fault == GpuCountFault::not_listed      ? SiteRule::gpu_count_not_allowed
                      : fault == GpuCountFault::part_of_nodes ? SiteRule::gpus_whole_nodes
                                                              : SiteRule::gpus_multiple;
    auto& violation = job.add_limit(what, 1ULL * demand.gpus_per_node * (in_all ? demand.nodes : 1),
                                    in_all ? rule.multiple_of : per_node, rule.origin);
    violation.request = &rule;
  }
}

void evaluate_total(PolicyEvaluationContext& job) {
  const auto& placement = job.placement;
  const auto gpus = placement.facts.gpu_count;
  if (placement.partitions.size() > 1) return;
  const auto* partition = placement.partition();
  if (const auto& most = limit_of(placement.qos, partition, &Limits::max_gpus); most && gpus > most->value)
    job.add_limit(SiteRule::gpus_over, gpus, most->value, most->origin).owner =
        limit_owner(job.site, placement.qos, partition, &Limits::max_gpus);
  if (const auto& least = limit_of(placement.qos, partition, &Limits::min_gpus); least && gpus < least->value)
    job.add_limit(SiteRule::gpus_under, gpus, least->value, least->origin).owner =
        limit_owner(job.site, placement.qos, partition, &Limits::min_gpus);
}

/// Whether it asks for a feature that none of the profile's nodes is known to have: it may be for others.
bool wants_other_nodes(const PolicyEvaluationContext& job) {
  const auto& nodes = job.placement.nodes;
  return std::any_of(job.demand.features.begin(), job.demand.features.end(), [&](const auto& feature) {
    return std::none_of(nodes.begin(), nodes.end(), [&](const auto* node) {
      return std::find(node->features.begin(), node->features.end(), feature) != node->features.end();
    });
  });
}

/// Whether the job, which has no GPUs, is where jobs with GPUs belong.
bool misses_gpus(const PolicyEvaluationContext& job, const model::GpuRequestRule& rule) {
  const auto& [site, placement, demand, violations] = job;
  const auto& partitions = placement.partitions;
  const bool any_cpu = std::any_of(partitions.begin(), partitions.end(),
                                   [](const auto* partition) { return partition->cpu_only; });
  if (any_cpu) return false;
  // A request without GPUs is not meant: without a partition their number is not known yet.
  if (job.is_request())
    return rule.must_request && (demand.gpus_counted || !partitions.empty() || site.partitions.empty());
  if (demand.gpus_by_other_name || rule.style == model::GpuOptionStyle::none || partitions.empty() ||
      wants_other_nodes(job))
    return false;
  const auto& nodes = placement.nodes;
  const bool for_gpus = std::all_of(nodes.begin(), nodes.end(), has_gpus);
  return for_gpus && (rule.must_request || (!nodes.empty() && !placement.owns_nodes()));
}

void evaluate_idle(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  const auto nodes = job.nodes();
  const unsigned requested = demand.gpus_per_node;
  if (!placement.owns_nodes() || nodes.size() != 1 || !nodes.front()->gpu || demand.gpus_spread ||
      (!placement.sure && !job.is_request()) || requested >= nodes.front()->gpu->per_node)
    return;
  const auto* partition = placement.partition();
  const bool by_partition = partition && partition->exclusive;
  auto& violation =
      job.add(SiteRule::gpus_idle, Confidence::advisory, requested, nodes.front()->gpu->per_node,
              by_partition ? partition->origin : nodes.front()->origin);
  violation.node = nodes.front();
  if (by_partition) violation.owner = fmt::format("partition {}", partition->name);
}

/// The job names no type of GPU although the site requires or recommends it.
void add_missing_type(PolicyEvaluationContext& job, const model::GpuRequestRule& rule,
                      const std::vector<const model::NodeType*>& nodes) {
  const bool request = job.is_request();
  // Of the one type that there is a job gets GPUs whether it names it or not.
  const bool only_one = gpu_type_names(nodes).size() <= 1;
  auto certainty = only_one ? Confidence::advisory : Confidence::likely;
  if (!rule.accepts_untyped && (request || (!only_one && job.demand.stage == RequestStage::submitted)))
    certainty = Confidence::definite;
  if (rule.accepts_untyped && request) certainty = Confidence::advisory;
  const auto which = rule.accepts_untyped ? SiteRule::gpu_type_recommended : SiteRule::gpu_type_required;
  job.add(which, certainty, 0, 0, rule.origin).request = &rule;
}

/// Whether none of the nodes that may have the job has GPUs of the type that it names.
bool has_unknown_type(const PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  if (is_unplaced(job)) {
    const auto all = gpu_nodes(site);
    return !all.empty() && nodes_with_type(all, demand.gpu_type).empty();
  }
  return !placement.type_exists && (job.is_request() || !placement.nodes.empty());
}

void evaluate_type(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  if (is_for_cpus(job)) return; // no type would help there
  if (!demand.gpu_type.empty()) {
    if (!has_unknown_type(job)) return;
    const auto* node = placement.kinds.empty() ? nullptr : placement.node();
    job.add(SiteRule::type_unknown, Confidence::likely, 0, 0, node ? node->origin : model::Origin{}).name =
        demand.gpu_type;
    return;
  }
  const auto& rule = gpu_rule(site, placement.facts);
  if (rule.type != model::OptionPolicy::required || rule.style == model::GpuOptionStyle::none) return;
  const auto nodes = is_unplaced(job) ? gpu_nodes(site) : placement.nodes;
  if (!job.is_request() && (nodes.empty() || !demand.constraint.empty())) return;
  add_missing_type(job, rule, nodes);
}

} // namespace

void evaluate_gpus(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  if (demand.gpus_per_node == 0) {
    const auto& rule = gpu_rule(site, placement.facts);
    if (!misses_gpus(job, rule)) return;
    const bool known = job.is_request() || !placement.nodes.empty(); // what the nodes have
    const bool sure = placement.sure || job.is_request();
    const bool refused = rule.must_request && known;
    // Slurm's default partition may have nodes without GPUs that the profile omits.
    if (!sure && !refused && demand.partitions.empty()) return;
    const auto certainty = sure && refused   ? Confidence::definite
                           : sure || refused ? Confidence::likely
                                             : Confidence::advisory;
    job.add(SiteRule::gpus_missing, certainty, 0, 0, rule.origin).request = &rule;
    return;
  }
  evaluate_room(job);
  evaluate_counts(job);
  evaluate_total(job);
  evaluate_idle(job);
  evaluate_type(job);
}

} // namespace hpcml::site_rules
