// SPDX-License-Identifier: MIT
// Ranks of one world whose programs do not train together: each trains alone, and all exit with 0.
#pragma once

#include <memory>
#include <optional>

#include "run/launch/separate_worlds_evidence.hpp"
#include "run/resolve/rank_setup.hpp"

namespace hpcml::launch {

class Supervisor;

/// True if the programs of several ranks are to form one world: their launchers connected to each other, and
/// neither another launcher's agent nor JAX's coordinator joins them.
bool expects_one_world(const NodeSetup& node, const LaunchRequest& request);

/// True if the programs of a world are expected to connect to a store that hpcml serves: also, their torch
/// accepts that store.
bool expects_connections(const std::shared_ptr<const NodeSetup>& node, const LaunchRequest& request);

/// What the output of these ranks shows; nothing if they are not to form one world, or did not all exit with
/// 0.
std::optional<SeparateWorldsEvidence> find_world_evidence(const std::shared_ptr<const NodeSetup>& node,
                                                          const LaunchRequest& request,
                                                          const Supervisor& ranks);

/// Reports on standard error if the ranks did not train together. Returns true if programs were part of a
/// world of 1, which is an error; if they did nothing that shows a world, it is a warning. `activity`: of the
/// store that a child of this process serves; null if there is none.
bool report_separate_worlds(SeparateWorldsEvidence evidence, const store::SharedStoreActivity* activity);

/// In rank 0's process that is about to become its program: leaves a process that asks the store and reports
/// on standard error that programs have set up worlds of 1, or, when the program ends, that none has
/// connected. It ends as soon as programs have joined one world.
void leave_world_watch(const RankSetup& setup, const LaunchRequest& request);

} // namespace hpcml::launch
