// SPDX-License-Identifier: MIT
// JobSpec and Site to Plan: pure, no clock, no environment, no file system.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/plan.hpp"
#include "core/util/result.hpp"

namespace hpcml::plan {

/// The plan, or everything that speaks against it. Errors have codes "request/…" (exit 4) or "usage/…" (exit
/// 2).
struct PlanResult {
  std::optional<model::Plan> plan;
  diag::Diagnostics diagnostics;
};
/// What only the caller knows.
struct CommandLineContext {
  std::string request_line = {};            ///< the line typed, for the script's head
  std::vector<std::string> sites_dirs = {}; ///< where launch finds a profile that is not built in, absolute
};
/// The plan of a job on a site.
PlanResult make_plan(const model::JobSpec& job, const model::Site& site,
                     const CommandLineContext& caller = {});

} // namespace hpcml::plan
