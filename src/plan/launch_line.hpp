// SPDX-License-Identifier: MIT
// The same request without a scheduler: the line that starts it on this machine.
#pragma once

#include <string>

#include "model/job_spec.hpp"

namespace hpcml::plan {

/// "hpcml launch --nproc-per-node 2 -- ./train", quoted for a person's shell.
std::string launch_line(const model::JobSpec& job);

} // namespace hpcml::plan
