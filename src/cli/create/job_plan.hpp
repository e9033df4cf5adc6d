// SPDX-License-Identifier: MIT
// A request on its site as a plan: what gen prints and submit submits.
#pragma once

#include <optional>
#include <vector>

#include "cli/command.hpp"
#include "cli/create/request_flags.hpp"
#include "core/model/site.hpp"
#include "generate/plan/planner.hpp"

namespace hpcml::cli {

/// The command as typed, for the head of what it writes.
std::string request_line(const Context& context);
/// "usage/…" findings are mistakes in how hpcml was called (2), all other errors are about what the site can
/// do (4).
int exit_code_of(const diag::Diagnostics& findings);
/// The plan with what only this call knows (the program's path, the line typed), and what of it cannot be
/// written as a script.
plan::PlanResult plan_job(model::JobSpec job, const model::Site& site, const Context& context);

/// One job of a request, planned.
struct PlannedRequestJob {
  config::NamedJobSpec part;
  model::Plan plan;
  diag::Diagnostics findings; ///< of the planner; they have been printed
  std::string script = {};    ///< once its findings have been printed
};
/// A request that may be several jobs, planned.
struct PlannedRequest {
  model::Site site;
  std::vector<PlannedRequestJob> parts;
};
/// The plans of all jobs of the request on its site; what is wrong is printed and gives `exit_code`.
std::optional<PlannedRequest> run_planning(const MergedRequest& request, const Context& context,
                                           int& exit_code);

/// Prints the findings of `hpcml check --site` for the plans' scripts as warnings on standard error, before
/// the job waits in a queue. `seen_to`: the code of what the command does itself.
void print_script_findings(PlannedRequest& planned, const Context& context, std::string_view seen_to = {});

/// A request that is one script.
struct PlannedJob {
  model::Site site;
  model::Plan plan;
  std::string script = {}; ///< where it is what is wanted
};
/// Does the same for a request of one job; of several, one must have been chosen. Prints the findings for its
/// script, unless that is not requested.
std::optional<PlannedJob> run_planning_of_one(const MergedRequest& request, const Context& context,
                                              int& exit_code, bool for_script = true);

} // namespace hpcml::cli
