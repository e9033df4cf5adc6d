// SPDX-License-Identifier: MIT
// The parts of the evaluation, each on one kind of limit.
#pragma once

#include <algorithm>

#include "core/site_rules/policy_violation.hpp"

namespace hpcml::site_rules {

/// What all parts look at, and where they add what they find.
struct PolicyEvaluationContext {
  const model::Site& site;
  const ResolvedPlacement& placement;
  const ResourceRequest& demand;
  PolicyViolations& violations;

  /// Whether the numbers are those of a request that is being made: nothing comes from a command line.
  bool is_request() const { return demand.stage == RequestStage::request; }
  /// certain where the job surely goes to the place whose limits it breaks.
  Confidence certainty() const { return placement.sure ? Confidence::definite : Confidence::likely; }
  /// Where the job runs: the one node type that a request is planned for, else all that may have it.
  std::vector<const model::NodeType*> nodes() const {
    if (is_request())
      return placement.planned ? std::vector{placement.planned} : std::vector<const model::NodeType*>();
    return placement.nodes;
  }
  /// Whether one partition is known, whose limits hold; those of the site where it has none.
  bool has_one_place() const {
    return placement.partitions.size() == 1 ||
           (placement.partitions.empty() && (is_request() || site.partitions.empty()));
  }
  PolicyViolation& add(SiteRule rule, Confidence certainty, unsigned long long have, unsigned long long limit,
                       const model::Origin& origin) {
    return violations.emplace_back(PolicyViolation{rule, certainty, {}, have, limit, {}, origin});
  }
  /// A limit of the place, which a reservation may lift.
  PolicyViolation& add_limit(SiteRule rule, unsigned long long have, unsigned long long limit,
                             const model::Origin& origin) {
    auto& violation = add(rule, certainty(), have, limit, origin);
    violation.reservable = demand.reserved;
    return violation;
  }
};

// Each in the file of its name.
void evaluate_partition(PolicyEvaluationContext& job);
void evaluate_nodes(PolicyEvaluationContext& job);
void evaluate_gpus(PolicyEvaluationContext& job);
void evaluate_cpus(PolicyEvaluationContext& job);
void evaluate_memory(PolicyEvaluationContext& job);
void evaluate_time(PolicyEvaluationContext& job);
void evaluate_options(PolicyEvaluationContext& job);
void evaluate_names(PolicyEvaluationContext& job);

} // namespace hpcml::site_rules
