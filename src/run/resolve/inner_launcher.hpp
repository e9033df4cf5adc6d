// SPDX-License-Identifier: MIT
// Detects launchers inside launchers, which would build more worlds than requested. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/launch_chain/started_launcher.hpp"
#include "core/util/result.hpp"
#include "run/resolve/node_queries.hpp"
#include "run/resolve/world.hpp"

namespace hpcml::launch {

using InnerLauncher = std::optional<launch_chain::StartedLauncher>;

/// Returns the command's own launcher, if it starts one, with the configuration of this node: torchrun's
/// variables in `env`, and the host file that deepspeed reads by default.
InnerLauncher find_inner_launcher(const std::vector<std::string>& command, const util::EnvSnapshot& env,
                                  const NodeQueries& queries);

/// Checks that the command's own launcher, which each rank of `world` would start, builds one world. The
/// error contains the number of worlds and the command to use instead.
util::Status check_inner_launcher(const launch_chain::StartedLauncher& inner, const World& world);

/// Returns a warning if each node starts an agent that names no other node, unless a file of the user may
/// name them; otherwise an empty text.
std::string agent_warning(const launch_chain::StartedLauncher& inner, const World& world);

/// Returns an error if this process, which is to start ranks, already is a rank of launch or torchrun on
/// this machine.
util::Status check_outer_launcher(const util::EnvSnapshot& env);

} // namespace hpcml::launch
