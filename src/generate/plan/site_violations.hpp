// SPDX-License-Identifier: MIT
// Broken site rules as findings of the planner.
#pragma once

#include <initializer_list>
#include <vector>

#include "core/site_rules/policy_violation.hpp"
#include "core/util/result.hpp"
#include "generate/plan/layout.hpp"

namespace hpcml::plan {

/// Returns what the job requests of its site, with the part of its header that is planned.
site_rules::ResourceRequest demand_of(const LayoutInput& input,
                                      const std::vector<model::PlannedDirective>& directives = {});

/// The site rules that a job breaks where it is planned, evaluated once.
class SiteViolations {
public:
  /// `input` has to outlive it.
  SiteViolations(const LayoutInput& input, site_rules::ResourceRequest demand);
  const site_rules::PolicyViolations& violations() const& { return x_violations; }
  const site_rules::PolicyViolations& violations() const&& = delete; ///< they would not outlive it
  /// Returns the sentence for a violation, the same that the check and the emulation print.
  std::string describe(const site_rules::PolicyViolation& violation) const;
  /// Reports the violations of these rules, in the order in which they were found.
  void report(StepDiagnostics& diagnostics, std::initializer_list<site_rules::SiteRule> rules) const;

private:
  void report_one(const site_rules::PolicyViolation& violation, StepDiagnostics& diagnostics) const;

  const LayoutInput& x_input;
  site_rules::ResourceRequest x_demand;
  site_rules::ResolvedPlacement x_place;
  site_rules::PolicyViolations x_violations;
};

/// Reports the site rules about the partition that a request names.
StepDiagnostics evaluate_named_partition(const Request& request, const site_rules::ResolvedPlacement& place);
/// Returns the hint for more jobs than one user may have in the queue.
std::string job_count_hint(const site_rules::PolicyViolation& violation);

} // namespace hpcml::plan
