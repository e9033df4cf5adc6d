// SPDX-License-Identifier: MIT
// Part of the fourth step of the planner: how a job's ranks are asked to save before it ends.
#pragma once

#include <optional>

#include "generate/plan/launch_plan.hpp"

namespace hpcml::plan {

/// Plans which processes receive which signal before the time limit; nothing if that is not requested.
PlanStepResult<std::optional<model::PlannedSaving>> plan_saving(const RequestWithLayout& input,
                                                                const model::PlannedLauncher& launcher);

/// Plans how many times a job continues after its end, and where its programs find their checkpoints; nothing
/// if that is not requested. `launch`: with its launcher, and how its ranks are asked to save.
PlanStepResult<std::optional<model::PlannedRequeue>> plan_requeue(const RequestWithLayout& input,
                                                                  const LaunchPlan& launch);

/// What spare nodes cannot go together with.
PlanStepDiagnostics check_spares(const RequestWithLayout& input, const model::PlannedLauncher& launcher);

} // namespace hpcml::plan
