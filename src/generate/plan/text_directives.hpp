// SPDX-License-Identifier: MIT
// The #SBATCH options whose values are texts of the user: what the site expects of them, the signal, the log.
#pragma once

#include <string>

#include "generate/plan/directives.hpp"

namespace hpcml::plan {

/// An option whose value is a text that the site may require, forbid or check ("account").
void add_text(const RequestWithSoftware& input, PlanStepResult<Directives>& result, const std::string& name,
              const model::Known<std::string>& wanted);

/// The signal before the time limit, for the ranks.
void add_signal(const RequestWithSoftware& input, PlanStepResult<Directives>& result);

/// The log is next to the script: Slurm makes no directories, and a job whose log has none ends silently.
void add_log(const RequestWithSoftware& input, PlanStepResult<Directives>& result);

} // namespace hpcml::plan
