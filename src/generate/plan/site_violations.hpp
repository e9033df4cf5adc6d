// SPDX-License-Identifier: MIT
// The judge's verdicts as the planner's findings.
#pragma once

#include <initializer_list>
#include <vector>

#include "core/site_rules/policy_violation.hpp"
#include "core/util/result.hpp"
#include "generate/plan/layout.hpp"

namespace hpcml::plan {

/// The job as a demand on its site, with so much of its header as is planned.
site_rules::ResourceRequest demand_of(const LayoutInput& input,
                                      const std::vector<model::PlannedDirective>& directives = {});

/// What the site's judge has against a job where it is planned, asked once.
class SiteViolations {
public:
  /// `input` has to outlive it.
  SiteViolations(const LayoutInput& input, site_rules::ResourceRequest demand);
  const site_rules::PolicyViolations& violations() const& { return x_violations; }
  const site_rules::PolicyViolations& violations() const&& = delete; ///< they would not outlive it
  /// Says what there is under these rules, in the judge's order.
  void report(StepDiagnostics& diagnostics, std::initializer_list<site_rules::SiteRule> rules) const;

private:
  const LayoutInput& x_given;
  site_rules::ResourceRequest x_demand;
  site_rules::PolicyViolations x_violations;
};

/// What the site says to the partition that a request names.
StepDiagnostics evaluate_named_partition(const Request& request, const site_rules::ResolvedPlacement& place);
/// More jobs than one user may have in the queue, with what to do.
util::Error describe_job_count(const site_rules::PolicyViolation& violation);

} // namespace hpcml::plan
