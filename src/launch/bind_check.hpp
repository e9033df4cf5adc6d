// SPDX-License-Identifier: MIT
// What a rank really has after binding, judged against its plan. Pure.
#pragma once

#include <string>
#include <vector>

#include "launch/rank_setup.hpp"

namespace hpcml::launch {

/// What is wrong with `cpus` as the CPUs of this rank, one sentence each: outside what it may use, far from its GPU, shared with
/// another rank or half a core of it, fewer than others have, not what was planned or fewer than asked for. `wanted`: physical
/// cores that were asked for, 0 if none were. The other ranks of the node count as they are planned.
std::vector<std::string> check_binding(const RankSetup& setup, const model::IdSet& cpus, unsigned wanted);

} // namespace hpcml::launch
