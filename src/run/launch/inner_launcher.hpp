// SPDX-License-Identifier: MIT
// Detects launchers inside launchers, which would build more worlds than requested.
#pragma once

#include <optional>
#include <string>

#include "core/launch_chain/started_launcher.hpp"
#include "core/util/result.hpp"
#include "run/launch/launch_request.hpp"
#include "run/launch/world.hpp"

namespace hpcml::launch {

/// Adds the configuration of this node to the command's own launcher: torchrun's variables in `env`, and the
/// host file under `root` that deepspeed reads by default.
launch_chain::StartedLauncher read_launcher_config(launch_chain::StartedLauncher inner,
                                                   const util::EnvSnapshot& env,
                                                   const std::string& root = {});

/// Checks that the command's own launcher, which each rank of `world` would start, builds one world. The
/// error contains the number of worlds and the command to use instead. Pure.
util::Status check_inner_launcher(const launch_chain::StartedLauncher& inner, const World& world);

/// Returns a warning if each node starts an agent that names no other node, unless a file of the user may
/// name them; otherwise an empty text. Pure.
std::string agent_warning(const launch_chain::StartedLauncher& inner, const World& world);

/// Returns an error if this process, which is to start ranks, already is a rank of launch or torchrun on
/// this machine. Pure.
util::Status check_outer_launcher(const util::EnvSnapshot& env);

} // namespace hpcml::launch
