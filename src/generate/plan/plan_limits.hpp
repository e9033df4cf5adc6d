// SPDX-License-Identifier: MIT
// Memory and time of the job, within what the site gives.
#pragma once

#include <optional>

#include "generate/plan/site_violations.hpp"

namespace hpcml::plan {

/// Memory per node; nothing where Slurm's own default serves or the site takes no such option.
std::optional<model::Sourced<model::MemSize>>
plan_memory(const LayoutInput& input, const SiteViolations& judgement, StepDiagnostics& diagnostics);
/// The time limit; nothing where the site's default serves.
std::optional<model::Sourced<model::Walltime>>
plan_time(const LayoutInput& input, const SiteViolations& judgement, StepDiagnostics& diagnostics);

} // namespace hpcml::plan
