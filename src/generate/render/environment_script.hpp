// SPDX-License-Identifier: MIT
// The script that makes a software environment on a site.
#pragma once

#include <string>

#include "generate/plan/setup_plan.hpp"

namespace hpcml::render {

/// Returns a bash script that the user runs on a machine with internet access; at the end it prints how a job
/// uses the environment.
std::string render_environment_script(const plan::SetupPlan& plan);

} // namespace hpcml::render
