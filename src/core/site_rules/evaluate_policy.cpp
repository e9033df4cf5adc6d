// SPDX-License-Identifier: MIT
// The evaluation: its parts in their order.
#include "core/site_rules/policy_evaluation_context.hpp"

namespace hpcml::site_rules {

std::optional<SiteRule> unavailable_reason(const model::Site& site) {
  if (site.state == model::SiteState::retired) return SiteRule::site_retired;
  if (site.scheduler == model::Scheduler::none) return SiteRule::no_scheduler;
  return std::nullopt;
}

PolicyViolations evaluate_policy(const model::Site& site, const ResolvedPlacement& placement,
                                 const ResourceRequest& demand) {
  PolicyViolations violations;
  PolicyEvaluationContext job{site, placement, demand, violations};
  if (const auto closed = unavailable_reason(site))
    job.add(*closed, Confidence::definite, 0, 0, site.state_origin);
  if (demand.elsewhere) return violations; // with its own rules
  evaluate_partition(job);
  evaluate_nodes(job);
  evaluate_gpus(job);
  evaluate_cpus(job);
  evaluate_memory(job);
  evaluate_time(job);
  evaluate_options(job);
  evaluate_names(job);
  return violations;
}

} // namespace hpcml::site_rules
