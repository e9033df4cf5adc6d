// SPDX-License-Identifier: MIT
// The fourth step of the planner: what starts the ranks, and who binds them to cores.
#pragma once

#include <optional>

#include "core/topo/affinity.hpp"
#include "generate/plan/layout.hpp"

namespace hpcml::plan {

/// How a job's ranks are started and bound.
struct LaunchPlan {
  model::PlannedLauncher launcher;
  model::PlannedBinding binding;
  std::optional<model::PlannedSaving> saving = {};
  std::optional<model::PlannedRequeue> requeue = {};
};

/// Plans the launch. `refused`: the request has been rejected already, so that masks are not computed.
PlanStepResult<LaunchPlan> plan_launch(const RequestWithLayout& input, bool refused);

/// Refuses commands with a launcher that each rank would start again; reports the line to type instead.
PlanStepDiagnostics check_inner_launchers(const RequestWithLayout& input);

/// What to place on a node with `gpus` GPUs: ranks with as many each as asked for, or sharing them where
/// there are too few.
topo::AffinityRequest make_affinity_request(const model::PlannedLayout& numbers,
                                            model::IdleCorePolicy idle_cores, std::size_t gpus);

/// A request whose launch is planned, for the steps after it.
struct RequestWithLaunch : RequestWithLayout {
  RequestWithLaunch(const RequestWithLayout& input, const LaunchPlan& how)
      : RequestWithLayout(input), launch(how) {}

  const LaunchPlan& launch;

  const model::PlannedLauncher& launcher() const { return launch.launcher; }
  bool is_hpcml() const { return launcher().choice.is_hpcml(); }
};

} // namespace hpcml::plan
