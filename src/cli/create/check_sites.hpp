// SPDX-License-Identifier: MIT
// hpcml check --all-sites: where a script would run unchanged, and what would have to change elsewhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "core/slurm/version.hpp"

namespace hpcml::cli {

/// Checks the one script of `files` for every production site and prints the sites, those where it runs
/// first. k_findings where it runs nowhere.
int run_check_sites(const std::vector<std::string>& files, std::optional<slurm::Version> version,
                    const std::string& format, const std::string& fail_on, const Context& context);

} // namespace hpcml::cli
