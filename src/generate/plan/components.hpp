// SPDX-License-Identifier: MIT
// Jobs of several components (#SBATCH hetjob): one plan each, and one script for all.
#pragma once

#include <vector>

#include "generate/plan/plan_step_diagnostics.hpp"
#include "generate/plan/planner.hpp"

namespace hpcml::plan {

/// The plan of a job with these components, the first with the others after it; that of the only one where
/// there is not an other. Errors as make_plan() has them, and "request/components" for what Slurm or a script
/// cannot have in several components.
PlanResult make_plan(const std::vector<model::JobSpec>& components, const model::Site& site,
                     const CommandLineContext& caller = {});

/// Takes the directives out of each later component that sbatch hands on to it, and states which would be
/// handed on to a component that is planned without them. Pure.
PlanStepDiagnostics leave_out_inherited(std::vector<model::Plan>& components);

} // namespace hpcml::plan
