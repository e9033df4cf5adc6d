// SPDX-License-Identifier: MIT
// The text of a job file to start from.
#pragma once

#include <string>

#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"

namespace hpcml::cli {

/// Returns hpcml.json for the site with the values of the request, and for each key what the site allows.
/// Required values that are unknown are comments to fill in. Pure.
std::string render_job_file(const model::Site& site, const model::JobSpec& job);

} // namespace hpcml::cli
