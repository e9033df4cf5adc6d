// SPDX-License-Identifier: MIT
// The ranks' launchers meet before their programs do: everybody learns where, and rank 0 who is missing.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/util/result.hpp"
#include "run/launch/rank_setup.hpp"
#include "run/store/client.hpp"

namespace hpcml::launch {

constexpr std::chrono::seconds k_rendezvous_timeout{300};

/// Meets the launchers of the other ranks and writes into `setup` where the program meets theirs. Rank 0
/// decides, serves where nobody else does, and waits for all. Nothing is done for one rank, or where the
/// request says not to wait. An error says who has not come.
util::Status join_rendezvous(RankSetup& setup, const LaunchRequest& request, const RuntimeContext& context);

/// Tells the others, where they can be told at once, that this rank's program will not start.
void notify_failure(const World& world, const LaunchRequest& request, const RuntimeContext& context,
                    const std::string& why);

/// Returns what the world's rank proves to the store. Of ranks without a shared key rank 0 alone has the one
/// of the store that it serves; nothing for the others.
std::optional<store::Credentials> find_rank_credentials(const World& world);

/// Whether the launchers of a world's ranks meet; the same for all of them.
bool needs_rendezvous(const World& world, const LaunchRequest& request);

} // namespace hpcml::launch
