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

/// The command's own launcher with what this node tells it besides: torchrun's variables in `env`, the file
/// of hosts that deepspeed reads by itself, under `root`.
launch_chain::StartedLauncher read_launcher_config(launch_chain::StartedLauncher inner,
                                                   const util::EnvSnapshot& env,
                                                   const std::string& root = {});

/// Whether the command's own launcher, which each rank of `world` would start, builds one world. The error
/// says how many it would build, and what to write instead. Pure.
util::Status check_inner_launcher(const launch_chain::StartedLauncher& inner, const World& world);

/// What is to be said of an agent that each node starts and that names no other node, where a file of the
/// user's may name them; empty where nothing is. Pure.
std::string agent_warning(const launch_chain::StartedLauncher& inner, const World& world);

/// Returns an error if this process, which is to start ranks, already is a rank of launch or torchrun on
/// this machine. Pure.
util::Status check_outer_launcher(const util::EnvSnapshot& env);

} // namespace hpcml::launch
