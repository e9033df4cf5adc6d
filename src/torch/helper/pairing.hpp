// SPDX-License-Identifier: MIT
// Rounds in which disjoint pairs of ranks talk, as a tournament arranges its games. Pure.
#pragma once

#include <optional>

namespace hpcml::helper {

/// Returns the number of rounds after which each of `count` players was paired once with each other one.
int rounds_of(int count);

/// Returns the partner of `player` in round 0, 1, … of `rounds_of(count)`; nothing if it rests because the
/// number is odd.
std::optional<int> partner_of(int player, int count, int round);

} // namespace hpcml::helper
