// SPDX-License-Identifier: MIT
// The partition that is named, and numbers of nodes and jobs.
#include "core/site_rules/limits.hpp"

#include "core/site_rules/policy_evaluation_context.hpp"
#include "core/util/text.hpp"
#include <fmt/format.h>

namespace hpcml::site_rules {
namespace {

using model::Limits;

/// The node types that can have the job: Slurm takes nodes of several where they are in one partition. What
/// the script of a request will name, those of other kinds have not.
std::vector<const model::NodeType*> kinds_for(const PolicyEvaluationContext& job) {
  auto kinds = job.placement.nodes;
  const auto* planned = job.placement.planned;
  const bool typed = gpu_rule(job.site, job.placement.facts).type == model::OptionPolicy::required;
  std::erase_if(kinds, [&](const auto* node) {
    const bool other_type =
        typed && planned && planned->gpu && node->gpu && planned->gpu->slurm_type != node->gpu->slurm_type;
    return !gives(*node, job.demand.gpus_per_node, job.demand.mem) || other_type ||
           (planned && planned->constraint != node->constraint);
  });
  return kinds;
}

/// All nodes of these kinds; 0 if unknown.
unsigned count_nodes(const std::vector<const model::NodeType*>& kinds) {
  unsigned all = 0;
  for (const auto* node : kinds) {
    if (!node->node_count) return 0;
    all += *node->node_count;
  }
  return all;
}

void evaluate_place(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  const unsigned nodes = demand.nodes;
  const auto* partition = placement.partition();
  const auto owner = [&, &site = site, &placement = placement](auto which) {
    return limit_owner(site, placement.qos, partition, which);
  };
  const auto& most = limit_of(placement.qos, partition, &Limits::max_nodes);
  if (most && nodes > most->value)
    job.add_limit(SiteRule::nodes_over, nodes, most->value, most->origin).owner = owner(&Limits::max_nodes);
  else if (!most && partition && partition->node_count && nodes > partition->node_count->value)
    job.add_limit(SiteRule::nodes_of_partition, nodes, partition->node_count->value,
                  partition->node_count->origin)
        .owner = fmt::format("partition {}", partition->name);
  else if (const auto kinds = kinds_for(job); !most && count_nodes(kinds) > 0 && nodes > count_nodes(kinds))
    job.add(SiteRule::nodes_of_kind, Confidence::likely, nodes, count_nodes(kinds), kinds.front()->origin)
        .node = kinds.size() == 1 ? kinds.front() : nullptr;
  if (const auto& least = limit_of(placement.qos, partition, &Limits::min_nodes);
      least && nodes < least->value)
    job.add_limit(SiteRule::nodes_under, nodes, least->value, least->origin).owner =
        owner(&Limits::min_nodes);
}

} // namespace

std::optional<PolicyViolation> evaluate_partition_name(const model::Site& site, const std::string& name) {
  if (site.partitions.empty() || site.find_partition(name)) return std::nullopt;
  const auto& others = site.other_partitions;
  if (util::contains(others, name))
    return PolicyViolation{SiteRule::partition_not_described, Confidence::advisory, name};
  return PolicyViolation{SiteRule::partition_unknown,
                         util::contains(others, "*") ? Confidence::advisory : Confidence::likely, name};
}

void evaluate_partition(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  if (demand.partitions.empty()) return;
  const auto& rule = sbatch_option_rule(site, "partition", placement.facts);
  const auto add = [&](SiteRule what, const std::string& name, Confidence certainty,
                       const model::Origin& origin) {
    auto& violation = job.add(what, certainty, 0, 0, origin);
    violation.name = name;
    violation.flag = &rule;
  };
  if (rule.policy == model::OptionPolicy::forbidden)
    return add(SiteRule::partition_refused, demand.partitions.front(), Confidence::definite, rule.origin);
  if (rule.policy == model::OptionPolicy::discouraged)
    add(SiteRule::partition_discouraged, demand.partitions.front(), Confidence::likely, rule.origin);
  for (const auto& name : demand.partitions) {
    const auto* partition = site.find_partition(name);
    if (partition && !partition->nameable)
      add(SiteRule::partition_chosen, name, Confidence::definite, partition->origin);
    if (partition && partition->on_request)
      add(SiteRule::partition_on_request, name, Confidence::advisory, partition->origin);
    if (!rule.takes() || rule.policy == model::OptionPolicy::discouraged) continue;
    if (auto unknown = evaluate_partition_name(site, name)) job.violations.push_back(std::move(*unknown));
  }
}

void evaluate_nodes(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  const unsigned nodes = demand.nodes;
  if (const auto& most = site.policies.max_nodes_per_user; most && nodes > most->value)
    job.add_limit(SiteRule::max_nodes_per_user, nodes, most->value, most->origin);
  const auto kinds = job.nodes();
  const bool separate = !kinds.empty() && std::none_of(kinds.begin(), kinds.end(),
                                                       [](const auto* node) { return node->multi_node; });
  if (nodes > 1 && separate) {
    auto& violation =
        job.add(SiteRule::nodes_not_connected, job.certainty(), nodes, 1, kinds.front()->origin);
    violation.node = kinds.front();
  }
  if (job.has_one_place()) evaluate_place(job); // else one of several may take it
  const auto* partition = placement.partition();
  const auto& most = limit_of(placement.qos, partition, &Limits::max_submitted);
  if (most && demand.array_tasks > most->value && placement.partitions.size() <= 1)
    job.add_limit(SiteRule::jobs_over, demand.array_tasks, most->value, most->origin).owner =
        limit_owner(site, placement.qos, partition, &Limits::max_submitted);
}

} // namespace hpcml::site_rules
