// SPDX-License-Identifier: MIT
// Limits of time.
#include "core/site_rules/limits.hpp"

#include "core/site_rules/policy_evaluation_context.hpp"
#include <fmt/format.h>

namespace hpcml::site_rules {
namespace {

using model::Limits;

struct Longest {
  model::Walltime time;
  std::string owner;
  model::Origin origin;
};

/// The longest that any of the job's partitions allows; nothing where one of them has no known limit.
std::optional<Longest> longest(const PolicyEvaluationContext& job) {
  const auto* qos = job.placement.qos;
  if (qos && qos->max_time) return Longest{qos->max_time->value, "QoS " + qos->name, qos->max_time->origin};
  std::optional<Longest> most;
  for (const auto* partition : job.placement.partitions) {
    const auto limit = time_limit(*partition, job.demand.nodes, job.placement.facts.gpu_count);
    if (!limit) return std::nullopt;
    if (!most || limit->value > most->time)
      most = Longest{limit->value,
                     partition->nameable ? fmt::format("partition {}", partition->name) : job.site.name,
                     limit->origin};
  }
  return most;
}

unsigned long long seconds_of(model::Walltime time) {
  return static_cast<unsigned long long>(time.seconds().count());
}

void evaluate_most(PolicyEvaluationContext& job) {
  const auto& demand = job.demand;
  const auto& time = demand.least_time ? demand.least_time : demand.time; // Slurm shortens the job to fit
  const auto* partition = job.placement.partition();
  if (const auto& most = limit_of(job.placement.qos, partition, &Limits::max_node_minutes);
      most && time && job.placement.partitions.size() <= 1) {
    const auto minutes = std::chrono::ceil<std::chrono::minutes>(time->seconds()).count();
    if (static_cast<unsigned long long>(minutes) * demand.nodes > most->value)
      job.add_limit(SiteRule::node_minutes, static_cast<unsigned long long>(minutes), most->value,
                    most->origin)
          .owner = limit_owner(job.site, job.placement.qos, partition, &Limits::max_node_minutes);
  }
  const auto limit = longest(job);
  if (!limit || (time ? *time <= limit->time : !demand.unlimited)) return;
  job.add_limit(SiteRule::time_over, time ? seconds_of(*time) : 0, seconds_of(limit->time), limit->origin)
      .owner = limit->owner;
}

} // namespace

void evaluate_time(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  evaluate_most(job);
  if (!demand.time || placement.partitions.size() > 1) return;
  if (const auto& least = limit_of(placement.qos, placement.partition(), &Limits::min_time);
      least && *demand.time < least->value)
    job.add_limit(SiteRule::time_under, seconds_of(*demand.time), seconds_of(least->value), least->origin)
        .owner = limit_owner(site, placement.qos, placement.partition(), &Limits::min_time);
  else if (const auto& usual = site.policies.min_time_recommended; usual && *demand.time < usual->value)
    job.add(SiteRule::time_short, Confidence::advisory, seconds_of(*demand.time), seconds_of(usual->value),
            usual->origin);
}

} // namespace hpcml::site_rules
