// SPDX-License-Identifier: MIT
// An agent that stands in the command itself: torchrun or accelerate with options of their own.
#pragma once

#include <string>
#include <vector>

#include "core/launch_chain/started_launcher.hpp"

namespace hpcml::plan {

/// The agent's program as a command of its own: Python runs its scripts and modules.
std::vector<std::string> agent_program(const launch_chain::StartedLauncher& agent);

} // namespace hpcml::plan
