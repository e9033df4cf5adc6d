// SPDX-License-Identifier: MIT
// Broken site rules as findings of the planner.
#pragma once

#include <string>
#include <vector>

#include "core/site_rules/site_rule_table.hpp"
#include "core/util/result.hpp"
#include "generate/plan/layout.hpp"

namespace hpcml::plan {

/// Returns what the job requests of its site, with the part of its header that is planned.
site_rules::ResourceRequest demand_of(const RequestWithLayout& input,
                                      const std::vector<model::PlannedDirective>& directives = {});

/// The site rules that a job breaks where it is planned, evaluated once.
class SiteViolations {
public:
  /// `input` has to outlive it.
  SiteViolations(const RequestWithLayout& input, site_rules::ResourceRequest demand);
  const site_rules::PolicyViolations& violations() const& { return x_violations; }
  const site_rules::PolicyViolations& violations() const&& = delete; ///< they would not outlive it
  /// Returns the sentence for a violation, the same that the check and the emulation print.
  std::string describe(const site_rules::PolicyViolation& violation) const;
  /// Returns what to do about a violation; empty if there is nothing to propose.
  std::string hint(const site_rules::PolicyViolation& violation) const;
  /// Reports the violations of the rules of this step, in the order in which they were found.
  void report(PlanStepDiagnostics& diagnostics, site_rules::PlanningStep step) const;

private:
  void report_one(const site_rules::PolicyViolation& violation, PlanStepDiagnostics& diagnostics) const;

  const RequestWithLayout& x_input;
  site_rules::ResourceRequest x_demand;
  site_rules::ResolvedPlacement x_place;
  site_rules::PolicyViolations x_violations;
};

/// Reports the site rules about the partition that a request names.
PlanStepDiagnostics evaluate_named_partition(const Request& request,
                                             const site_rules::ResolvedPlacement& place);
/// Returns the code of the finding in a request: "request/nodes", "request/" with the name of an option.
std::string request_code(const site_rules::PolicyViolation& violation);

} // namespace hpcml::plan
