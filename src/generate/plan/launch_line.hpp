// SPDX-License-Identifier: MIT
// The line that starts a request on this machine: the planner's hint where a site has no scheduler, so that
// there is no plan to render.
#pragma once

#include <string>

#include "core/model/job_spec.hpp"

namespace hpcml::plan {

/// "hpcml launch --nproc-per-node 2 --./train", quoted for a user's shell.
std::string launch_line(const model::JobSpec& job);

} // namespace hpcml::plan
