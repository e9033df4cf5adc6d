// SPDX-License-Identifier: MIT
// An agent that is in the command itself: torchrun or accelerate with their own options.
#pragma once

#include <string>
#include <vector>

#include "core/launch_chain/started_launcher.hpp"

namespace hpcml::plan {

/// The agent's program as its own command: Python runs its scripts and modules.
std::vector<std::string> agent_program(const launch_chain::StartedLauncher& agent);

} // namespace hpcml::plan
