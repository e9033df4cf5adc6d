// SPDX-License-Identifier: MIT
// Rendezvous of the launchers before their programs start: all ranks get the endpoint, and rank 0 finds
// missing ranks.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/util/result.hpp"
#include "run/launch/launch_context.hpp"
#include "run/resolve/rank_setup.hpp"
#include "run/store/client.hpp"

namespace hpcml::launch {

constexpr std::chrono::seconds k_rendezvous_timeout{model::k_default_rendezvous_timeout};

/// Connects to the launchers of the other ranks, and writes the endpoint of the programs into `setup`. Rank
/// 0 decides, starts a store if there is none, and waits for all. Does nothing for one rank, or if the
/// request disables it. The error names missing ranks.
util::Status join_rendezvous(RankSetup& setup, const LaunchRequest& request, const RuntimeContext& context);

/// Notifies the other ranks, if they can be reached immediately, that this rank's program will not start.
void notify_failure(const World& world, const LaunchRequest& request, const RuntimeContext& context,
                    const std::string& why);

/// Returns the credentials of the rank for the store. Without a shared key only rank 0 has some, for its own
/// store.
std::optional<store::Credentials> find_rank_credentials(const World& world);

/// True if the launchers of the ranks need a rendezvous; the same for all of them.
bool needs_rendezvous(const World& world, const LaunchRequest& request);

} // namespace hpcml::launch
