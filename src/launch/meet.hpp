// SPDX-License-Identifier: MIT
// The ranks' launchers meet before their programs do: everybody learns where, and rank 0 who is missing.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "launch/rank_setup.hpp"
#include "launch/store_child.hpp"
#include "util/result.hpp"

namespace hpcml::launch {

/// "HOST:PORT" of a store that is there already.
constexpr const char* k_store_variable = "HPCML_STORE_ADDR";
constexpr std::chrono::seconds k_meet_timeout{300};

/// Meets the launchers of the other ranks and writes into `setup` where the program meets theirs. Rank 0
/// decides, serves where nobody else does, and waits for all. Nothing is done for one rank, or where the
/// request says not to wait. An error says who has not come.
util::Status meet_others(RankSetup& setup, const LaunchRequest& request, const Surroundings& context);

/// Tells the others, where they can be told at once, that this rank's program will not start.
void tell_failure(const World& world, const LaunchRequest& request, const Surroundings& context,
                  const std::string& why);

/// Whether the launchers of a world's ranks meet; the same for all of them.
bool is_to_meet(const World& world, const LaunchRequest& request);

/// Serves for the ranks of node's world as a child of this process; `activity` hears of their programs. One
/// that `stays_for_others` can be told to (`StoreChild::part`).
util::Result<StoreChild> serve_ranks(const std::shared_ptr<const NodeSetup>& node,
                                     const LaunchRequest& request, const Surroundings& context,
                                     store::Activity* activity = nullptr, bool stays_for_others = false);

/// Serves for the ranks that this process starts, and tells them by the node's environment; nothing where
/// another node's launcher does, and a sentence on standard error where it cannot. The child that serves;
/// `activity` receives what the ranks' programs do.
std::optional<StoreChild> serve_started_ranks(const std::shared_ptr<NodeSetup>& node,
                                              const LaunchRequest& request, const Surroundings& context,
                                              store::Activity* activity);

} // namespace hpcml::launch
