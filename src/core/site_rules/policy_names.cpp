// SPDX-License-Identifier: MIT
// QoS and features.
#include "core/site_rules/limits.hpp"
#include "core/site_rules/policy_evaluation_context.hpp"
#include "core/util/text.hpp"

namespace hpcml::site_rules {
namespace {

/// Whether the option ("--exclusive") is among the job's.
bool has_option(const ResourceRequest& demand, const std::string& option) {
  const auto name = option.substr(2, option.find('=') - 2);
  return name == "exclusive" ? demand.exclusive : demand.has(name);
}

void evaluate_qos(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  if (demand.qos.empty()) return;
  const auto* qos = placement.qos;
  // Slurm's database makes the QoS normal by itself.
  if (!qos && demand.qos != "normal" && !site.qos.empty() && !util::contains(site.other_qos, demand.qos))
    job.add(SiteRule::qos_unknown, Confidence::likely, 0, 0, {}).name = demand.qos;
  if (!qos) return;
  if (qos->on_request)
    job.add(SiteRule::qos_on_request, Confidence::advisory, 0, 0, qos->origin).name = qos->name;
  const auto& partitions = placement.partitions;
  const bool named = !demand.partitions.empty() || job.is_request();
  const auto is_for = [&](const auto* partition) { return is_place_of(qos, partition->name); };
  // A profile may know a part of the QoS's partitions only.
  if (named && !partitions.empty() && std::none_of(partitions.begin(), partitions.end(), is_for))
    job.add(SiteRule::qos_elsewhere, Confidence::likely, 0, 0, qos->origin).name = qos->name;
  for (const auto& option : qos->needs)
    if (!has_option(demand, option))
      job.add(SiteRule::qos_needs, Confidence::definite, 0, 0, qos->origin).name = option;
}

void evaluate_features(PolicyEvaluationContext& job) {
  const auto& [site, placement, demand, violations] = job;
  const auto& signs = site.constraint_operators;
  for (const std::string sign : {"&", "|"})
    if (!signs.empty() && demand.constraint.find(sign) != std::string::npos && !util::contains(signs, sign))
      job.add(SiteRule::constraint_operator, Confidence::likely, 0, 0, {}).name = sign;
  std::vector<std::string> reported;
  for (const auto& name : demand.features) {
    if (site.constraints.empty() || util::contains(site.constraints, name) || util::contains(reported, name))
      continue;
    reported.push_back(name);
    job.add(SiteRule::feature_unknown, Confidence::likely, 0, 0, {}).name = name;
  }
}

} // namespace

void evaluate_names(PolicyEvaluationContext& job) {
  evaluate_qos(job);
  evaluate_features(job);
}

} // namespace hpcml::site_rules
