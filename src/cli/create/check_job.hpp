// SPDX-License-Identifier: MIT
// hpcml check on a job file: the file, the plan of its jobs on the site, and the scripts that they become.
#pragma once

#include <optional>
#include <string>

#include "check/rule.hpp"
#include "cli/command.hpp"
#include "core/slurm/version.hpp"

namespace hpcml::cli {

/// What was found, with the text that places point into.
struct JobCheck {
  check::Findings findings;
  std::string source;
  bool is_valid = true; ///< false: it is no job file, or one with wrong values
};
/// `site`: the one that --site names; else that of the file, of HPCML_SITE or of the configuration, as gen
/// takes it.
JobCheck check_job_file(const std::string& path, const std::optional<std::string>& site,
                        std::optional<slurm::Version> version, const Context& context);

} // namespace hpcml::cli
