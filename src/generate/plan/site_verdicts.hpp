// SPDX-License-Identifier: MIT
// The judge's verdicts as the planner's findings.
#pragma once

#include <initializer_list>
#include <vector>

#include "generate/plan/layout.hpp"
#include "core/site_rules/verdict.hpp"
#include "core/util/result.hpp"

namespace hpcml::plan {

/// The job as a demand on its site, with so much of its header as is planned.
site::ResourceRequest demand_of(const LayoutInput& input,
                                const std::vector<model::PlannedDirective>& directives = {});

/// What the site's judge has against a job where it is planned, asked once.
class SiteJudgement {
public:
  /// `input` has to outlive it.
  SiteJudgement(const LayoutInput& input, site::ResourceRequest demand);
  const site::PolicyViolations& verdicts() const& { return x_verdicts; }
  const site::PolicyViolations& verdicts() const&& = delete; ///< they would not outlive it
  /// Says what there is under these rules, in the judge's order.
  void say(StepDiagnostics& diagnostics, std::initializer_list<site::SiteRule> rules) const;

private:
  const LayoutInput& x_given;
  site::ResourceRequest x_demand;
  site::PolicyViolations x_verdicts;
};

/// What the site says to the partition that a request names.
StepDiagnostics judge_named_partition(const Request& request, const site::ResolvedPlacement& place);
/// More jobs than one user may have in the queue, with what to do.
util::Error describe_job_count(const site::PolicyViolation& verdict);

} // namespace hpcml::plan
