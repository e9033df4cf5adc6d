// SPDX-License-Identifier: MIT
// The judge's verdicts as the planner's findings.
#pragma once

#include <initializer_list>

#include "plan/plan_context.hpp"
#include "site/verdict.hpp"
#include "util/result.hpp"

namespace hpcml::plan {

/// The job as far as it is planned.
site::Demand demand_of(const PlanContext& context);
/// What the site's judge has against such a job where this one is planned.
site::Verdicts judge(const PlanContext& context, const site::Demand& demand);
/// More jobs than one user may have in the queue, with what to do.
util::Error describe_job_count(const site::Verdict& verdict);
/// Says what the site's judge has against the job under these rules, as it is planned so far.
void say_verdicts(PlanContext& context, std::initializer_list<site::Rule> rules);

} // namespace hpcml::plan
