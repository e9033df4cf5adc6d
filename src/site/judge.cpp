// SPDX-License-Identifier: MIT
// The judge: its parts in their order, and what the rules are called.
#include "site/judging.hpp"

namespace hpcml::site {

std::string_view rule_id(Rule rule) {
  switch (rule) {
  case Rule::site_retired: return "site/retired";
  case Rule::no_scheduler: return "site/no-scheduler";
  case Rule::partition_refused:
  case Rule::partition_unwanted:
  case Rule::partition_chosen: return "site/partition-named";
  case Rule::partition_unknown:
  case Rule::partition_untold: return "site/partition-unknown";
  case Rule::gpus_on_cpu_nodes: return "site/gpus-on-cpu-nodes";
  case Rule::nodes_of_user:
  case Rule::nodes_apart:
  case Rule::nodes_over:
  case Rule::nodes_of_partition:
  case Rule::nodes_of_kind:
  case Rule::nodes_under: return "site/nodes";
  case Rule::gpus_of_node:
  case Rule::gpus_on_nodes: return "site/gpus-per-node";
  case Rule::gpus_listed:
  case Rule::gpus_whole_nodes:
  case Rule::gpus_multiple: return "site/gpu-count";
  case Rule::gpus_over:
  case Rule::gpus_under: return "site/gpus-of-job";
  case Rule::gpus_missing: return "site/gpus-missing";
  case Rule::gpus_idle: return "site/idle-gpus";
  case Rule::type_unknown:
  case Rule::type_missing: return "site/gpu-type";
  case Rule::cpus_over:
  case Rule::cpus_reserved: return "site/cpus-per-node";
  case Rule::cpu_share:
  case Rule::cpus_many:
  case Rule::cpus_few:
  case Rule::memory_share:
  case Rule::memory_many: return "site/gpu-share";
  case Rule::memory_over: return "site/memory";
  case Rule::time_over:
  case Rule::node_minutes: return "site/time-over";
  case Rule::time_under:
  case Rule::time_short: return "site/time-under";
  case Rule::option_unwanted:
  case Rule::option_refused: return "site/option-refused";
  case Rule::option_ignored: return "site/option-ignored";
  case Rule::option_missing: return "site/option-missing";
  case Rule::option_on_srun: return "site/option-on-srun";
  case Rule::option_form:
  case Rule::option_suffix: return "site/option-form";
  case Rule::qos_unknown: return "site/qos-unknown";
  case Rule::qos_elsewhere:
  case Rule::qos_needs: return "site/qos-fit";
  case Rule::feature_unknown:
  case Rule::feature_sign: return "site/constraint";
  case Rule::jobs_over: return "site/jobs";
  case Rule::partition_on_request:
  case Rule::qos_on_request: return "site/on-request";
  }
  return {};
}

std::optional<Rule> closed_by(const model::Site& site) {
  if (site.state == model::SiteState::retired) return Rule::site_retired;
  if (site.scheduler == model::Scheduler::none) return Rule::no_scheduler;
  return std::nullopt;
}

Verdicts judge(const model::Site& site, const Placement& placement, const Demand& demand) {
  Verdicts verdicts;
  Case job{site, placement, demand, verdicts};
  if (const auto closed = closed_by(site)) job.add(*closed, Certainty::certain, 0, 0, site.state_origin);
  if (demand.elsewhere) return verdicts; // with rules of its own
  judge_partition(job);
  judge_nodes(job);
  judge_gpus(job);
  judge_cpus(job);
  judge_memory(job);
  judge_time(job);
  judge_options(job);
  judge_names(job);
  return verdicts;
}

} // namespace hpcml::site
