// SPDX-License-Identifier: MIT
// The last step of the planner: the job's #SBATCH options, and what of the site's demands goes to srun.
#pragma once

#include <string>
#include <vector>

#include "generate/plan/software.hpp"

namespace hpcml::plan {

/// The options of a job, for sbatch and for the program that starts its ranks.
struct Directives {
  std::vector<model::PlannedDirective> header;
  std::vector<std::string> step_args; ///< of the launch, and those that the site gives to the step

  /// True if the header has the option ("--mem").
  bool has(const std::string& name) const;
};

/// Writes the options. `findings`: what the steps before have said, which is not reported again.
PlanStepResult<Directives> plan_directives(const RequestWithSoftware& input,
                                           const diag::Diagnostics& findings);

/// What the site says about the finished job as a whole: limits of partition and QoS, GPU counts, shares.
PlanStepDiagnostics evaluate_job(const RequestWithSoftware& input, const Directives& directives);

/// What takes the script, with what the job's author should know of submitting it.
PlanStepResult<model::Sourced<std::string>> plan_submission(const RequestWithLayout& input);
/// What the job's author should know of the site, and what does not go together.
PlanStepDiagnostics note_site_rules(const RequestWithSoftware& input, const Directives& directives);

} // namespace hpcml::plan
