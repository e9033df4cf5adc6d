// SPDX-License-Identifier: MIT
// A request on its site as a plan: what gen prints and submit submits.
#pragma once

#include <optional>

#include "cli/command.hpp"
#include "cli/request_flags.hpp"
#include "model/site.hpp"
#include "plan/planner.hpp"

namespace hpcml::cli {

/// The profile that the request names or, without a name, that recognises this machine; what is wrong is printed and gives `exit_code`.
std::optional<model::Site> find_site(const Request& request, const Context& context, int& exit_code);
/// "usage/…" findings are mistakes in how hpcml was called (2), all other errors are about what the site can do (4).
int exit_code_of(const diag::Diagnostics& findings);
/// The plan with what only this call knows (the program's path, the line typed), and what of it cannot be written as a script.
plan::PlanResult plan_job(model::JobSpec job, const model::Site& site, const Context& context);

/// A request that can be submitted.
struct PlannedJob {
  model::Site site;
  model::Plan plan;
};
/// The plan of the request on its site; what is wrong is printed and gives `exit_code`.
std::optional<PlannedJob> plan_request(const Request& request, const Context& context, int& exit_code);

} // namespace hpcml::cli
