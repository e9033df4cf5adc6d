// SPDX-License-Identifier: MIT
// The script that makes a software environment on a site.
#pragma once

#include <string>

#include "generate/plan/setup_plan.hpp"

namespace hpcml::render {

/// A bash script for a person to run where the internet is; it ends by saying how a job takes the
/// environment.
std::string render_environment_script(const plan::SetupPlan& plan);

} // namespace hpcml::render
