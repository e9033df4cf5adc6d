// SPDX-License-Identifier: MIT
// gen --setup: the script that makes a software environment on a site.
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/create/request_flags.hpp"
#include "generate/plan/setup_plan.hpp"

namespace hpcml::cli {

/// The flags of gen --setup.
struct SetupOptions {
  bool wanted = false;
  plan::SetupSpec spec;
};

/// The script, or nothing: then what is wrong has been printed and `exit_code` set.
std::optional<std::string> run_setup_planning(const MergedRequest& request, const SetupOptions& options,
                                              const Context& context, int& exit_code);

} // namespace hpcml::cli
