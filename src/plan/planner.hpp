// SPDX-License-Identifier: MIT
// JobSpec and Site to Plan: pure, no clock, no environment, no file system.
#pragma once

#include <optional>

#include "diag/diagnostic.hpp"
#include "model/plan.hpp"
#include "util/result.hpp"

namespace hpcml::plan {

/// The plan, or everything that speaks against it. Errors have codes "request/…" (exit 4) or "usage/…" (exit
/// 2).
struct PlanResult {
  std::optional<model::Plan> plan;
  diag::Diagnostics diagnostics;
};
/// The plan of a job on a site.
PlanResult make_plan(const model::JobSpec& job, const model::Site& site);

} // namespace hpcml::plan
