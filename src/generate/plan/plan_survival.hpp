// SPDX-License-Identifier: MIT
// Part of the fourth step of the planner: how a job's ranks are asked to save before it ends.
#pragma once

#include <optional>

#include "generate/plan/launch_plan.hpp"

namespace hpcml::plan {

/// Who receives what before the time limit; nothing where nobody asks for it.
StepResult<std::optional<model::PlannedSaving>> plan_saving(const LayoutInput& input,
                                                            const model::PlannedLauncher& launcher);

/// How often a job continues after its end, and where its programs find what they have saved; nothing where
/// nobody asks for it. `launch`: with its launcher, and how its ranks are asked to save.
StepResult<std::optional<model::PlannedRequeue>> plan_requeue(const LayoutInput& input,
                                                              const LaunchPlan& launch);

/// What spare nodes cannot go together with.
StepDiagnostics check_spares(const LayoutInput& input, const model::PlannedLauncher& launcher);

} // namespace hpcml::plan
