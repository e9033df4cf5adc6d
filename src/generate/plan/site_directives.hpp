// SPDX-License-Identifier: MIT
// The #SBATCH options that the site requires, refuses, ignores or keeps for srun.
#pragma once

#include "generate/plan/directives.hpp"

namespace hpcml::plan {

/// What the site requires of every job, of this node type, and of the QoS.
void add_site_options(const RequestWithSoftware& input, PlanStepResult<Directives>& result);

/// Refused, ignored and missing options, by the site's rules; those of the step go there. `earlier`: what the
/// steps before have said.
void check_flags(const RequestWithSoftware& input, const diag::Diagnostics& earlier,
                 PlanStepResult<Directives>& result);

} // namespace hpcml::plan
