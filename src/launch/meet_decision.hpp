// SPDX-License-Identifier: MIT
// What rank 0's launcher decides for all ranks: where their programs meet, and by which variables they know.
#pragma once

#include <cstdint>
#include <vector>

#include "launch/rank_setup.hpp"
#include "launch/store_words.hpp"
#include "store/own_words.hpp"

namespace hpcml::launch {

/// Whether the programs meet at hpcml's own store: from what was asked for and the program's torch, whose
/// files are read.
StoreWords choose_words(const RankSetup& setup, const LaunchRequest& request);

/// The decision for all, from rank 0's set-up. `ports`: those of the step, the likeliest first; one that rank
/// 0's program is to open is kept for it. What people should know of it is said on standard error.
store::Decision decide_meeting(const RankSetup& setup, const LaunchRequest& request, const Surroundings& here,
                               const std::vector<std::uint16_t>& ports);

} // namespace hpcml::launch
