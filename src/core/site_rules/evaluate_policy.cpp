// SPDX-License-Identifier: MIT
// The evaluation: its parts in their order, and what the rules are called.
#include "core/site_rules/rule_evaluation.hpp"

namespace hpcml::site_rules {

std::string_view rule_id(SiteRule rule) {
  switch (rule) {
  case SiteRule::site_retired: return "site/retired";
  case SiteRule::no_scheduler: return "site/no-scheduler";
  case SiteRule::partition_refused:
  case SiteRule::partition_discouraged:
  case SiteRule::partition_chosen: return "site/partition-named";
  case SiteRule::partition_unknown:
  case SiteRule::partition_not_described: return "site/partition-unknown";
  case SiteRule::gpus_on_cpu_nodes: return "site/gpus-on-cpu-nodes";
  case SiteRule::max_nodes_per_user:
  case SiteRule::nodes_not_connected:
  case SiteRule::nodes_over:
  case SiteRule::nodes_of_partition:
  case SiteRule::nodes_of_kind:
  case SiteRule::nodes_under: return "site/nodes";
  case SiteRule::gpus_of_node:
  case SiteRule::gpus_on_nodes: return "site/gpus-per-node";
  case SiteRule::gpu_count_not_allowed:
  case SiteRule::gpus_whole_nodes:
  case SiteRule::gpus_multiple: return "site/gpu-count";
  case SiteRule::gpus_over:
  case SiteRule::gpus_under: return "site/total-gpus";
  case SiteRule::gpus_missing: return "site/gpus-missing";
  case SiteRule::gpus_idle: return "site/idle-gpus";
  case SiteRule::type_unknown:
  case SiteRule::gpu_type_required: return "site/gpu-type";
  case SiteRule::cpus_over:
  case SiteRule::cpus_reserved: return "site/cpus-per-node";
  case SiteRule::cpu_share:
  case SiteRule::cpus_many:
  case SiteRule::cpus_few:
  case SiteRule::memory_share:
  case SiteRule::memory_many: return "site/gpu-share";
  case SiteRule::memory_over: return "site/memory";
  case SiteRule::time_over:
  case SiteRule::node_minutes: return "site/time-limit-exceeded";
  case SiteRule::time_under:
  case SiteRule::time_short: return "site/time-limit-too-short";
  case SiteRule::option_discouraged:
  case SiteRule::option_refused: return "site/option-refused";
  case SiteRule::option_ignored: return "site/option-ignored";
  case SiteRule::option_missing: return "site/option-missing";
  case SiteRule::option_on_srun: return "site/option-on-srun";
  case SiteRule::option_form:
  case SiteRule::option_suffix: return "site/option-form";
  case SiteRule::qos_unknown: return "site/qos-unknown";
  case SiteRule::qos_elsewhere:
  case SiteRule::qos_needs: return "site/qos-fit";
  case SiteRule::feature_unknown:
  case SiteRule::constraint_operator: return "site/constraint";
  case SiteRule::jobs_over: return "site/jobs";
  case SiteRule::partition_on_request:
  case SiteRule::qos_on_request: return "site/on-request";
  }
  return {};
}

std::optional<SiteRule> unavailable_reason(const model::Site& site) {
  if (site.state == model::SiteState::retired) return SiteRule::site_retired;
  if (site.scheduler == model::Scheduler::none) return SiteRule::no_scheduler;
  return std::nullopt;
}

PolicyViolations evaluate_policy(const model::Site& site, const ResolvedPlacement& placement,
                                 const ResourceRequest& demand) {
  PolicyViolations violations;
  Case job{site, placement, demand, violations};
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
