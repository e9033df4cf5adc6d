// SPDX-License-Identifier: MIT
// The text of a job file to start from.
#pragma once

#include <string>

#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"

namespace hpcml::cli {

/// hpcml.json for the site with what the request says already, each key with what the site allows. What is
/// needed and not known stands there as a comment to fill in. Pure.
std::string render_job_file(const model::Site& site, const model::JobSpec& job);

} // namespace hpcml::cli
