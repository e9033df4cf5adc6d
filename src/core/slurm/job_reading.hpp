// SPDX-License-Identifier: MIT
// A batch script as the job that sbatch makes of it: its header, the settings in it, what they ask for and
// how large that is.
#pragma once

#include <string_view>
#include <vector>

#include "core/slurm/job_request.hpp"
#include "core/slurm/job_size.hpp"
#include "core/slurm/option_settings.hpp"
#include "core/slurm/script_header.hpp"

namespace hpcml::slurm {

/// The job as one version of sbatch reads it.
struct ScriptAsRead {
  ScriptHeader header = {};
  Components settings = {};              ///< of the directives, also what a later one overrides
  std::vector<JobOptions> requests = {}; ///< one per component of the job
  std::vector<JobSize> sizes = {};       ///< of the requests
};

/// Reads the script; adds what sbatch rejects in its lines and values to `findings`. check_possible returns
/// whether such a job is possible.
ScriptAsRead read_job(std::string_view text, ComparisonTrackingVersion version, LocatedFindings& findings);

} // namespace hpcml::slurm
