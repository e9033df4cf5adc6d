// SPDX-License-Identifier: MIT
// Rounds in which disjoint pairs of ranks talk, as a tournament arranges its games. Pure.
#pragma once

#include <optional>

namespace hpcml::helper {

/// After this many rounds each of `count` players has met each other one once.
int rounds_of(int count);

/// Whom `player` meets in round 0, 1, … of `rounds_of(count)`; nothing where one player of an odd number
/// rests.
std::optional<int> partner_of(int player, int count, int round);

} // namespace hpcml::helper
