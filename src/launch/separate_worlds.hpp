// SPDX-License-Identifier: MIT
// Ranks of one world whose programs never connect to each other: each trains alone, and all end well.
#pragma once

#include <memory>

#include "launch/rank_setup.hpp"

namespace hpcml::launch {

/// Whether the programs of a world are expected to connect to a store that hpcml serves: several ranks whose
/// launchers connected and whose torch accepts the store, no other agent, no coordinator of JAX.
bool expects_connections(const std::shared_ptr<const NodeSetup>& node, const LaunchRequest& request);

/// Reports on standard error that none did: a warning, and a hint on the next line.
void report_separate_worlds(unsigned world_size);

/// In rank 0's process that is about to become its program: leaves a process that reports it when the program
/// ends and none has connected. It ends as soon as one has.
void leave_world_watch(const RankSetup& setup, const LaunchRequest& request);

} // namespace hpcml::launch
