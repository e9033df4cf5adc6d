// SPDX-License-Identifier: MIT
// Requests and profiles for the planner's tests.
#pragma once

#include <catch2/catch.hpp>

#include <optional>
#include <string>
#include <vector>

#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"
#include "flag_values.hpp"
#include "generate/plan/plan_step_diagnostics.hpp"
#include "generate/plan/planner.hpp"

namespace hpcml::test {

inline model::Sourced<model::Launcher> launcher(const std::string& name) {
  return flag(model::Launcher::parse(name).value(), "--launcher");
}

model::Walltime time_of(const std::string& text);
model::MemSize mem_of(const std::string& text);

/// A profile of the product, by id.
const model::Site& site_named(const std::string& id);

/// A site that no profile has, for steps that are tested alone: one partition of nodes with four GPUs of
/// NVIDIA.
model::Site small_site();

/// A request that LUMI accepts.
model::JobSpec lumi_job();
/// `command` for ten minutes.
model::JobSpec job_of(std::vector<std::string> command);

/// The plan; a request that is refused fails the test with the findings.
model::Plan planned(const model::JobSpec& job, const std::string& site_id);
/// The findings, errors only.
diag::Diagnostics errors_of(const model::JobSpec& job, const std::string& site_id);
/// The one error with this code; none or two fail the test.
diag::Diagnostic error_of(const model::JobSpec& job, const std::string& site_id, const std::string& code);

/// "--name=value" lines in order; "--name" for a flag.
std::vector<std::string> directive_lines(const model::Plan& plan);
/// The value of a directive; nothing if it is not there. A flag has "".
std::optional<std::string> directive(const model::Plan& plan, const std::string& name);
const model::PlannedEnv* variable(const model::Plan& plan, const std::string& name);
/// Whether a finding of the step has this code.
bool reports(const plan::PlanStepDiagnostics& diagnostics, const std::string& code);
bool has_note(const model::Plan& plan, const std::string& part);

} // namespace hpcml::test
