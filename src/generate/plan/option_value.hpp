// SPDX-License-Identifier: MIT
// Values of sbatch's options in a request, compared with the site's Slurm before the queue sees them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/plan.hpp"
#include "core/model/site.hpp"
#include "core/util/result.hpp"
#include "generate/plan/plan_step_diagnostics.hpp"

namespace hpcml::plan {

/// What is wrong with the value of an option ("array") for the site's sbatch, or for that of any version
/// where the site's is not known; nothing where it is taken.
std::optional<util::Error> find_value_fault(const model::Site& site, const std::string& option,
                                            const std::string& value);

/// Says what the site's sbatch, or where its version is not known that of some version, refuses of options
/// that do not go together.
void refuse_combinations(PlanStepDiagnostics& diagnostics, const model::Site& site,
                         const std::vector<model::PlannedDirective>& directives);

} // namespace hpcml::plan
