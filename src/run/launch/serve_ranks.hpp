// SPDX-License-Identifier: MIT
// The stores that launchers serve for the ranks of a step: at which addresses and ports, and for whom.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/rank_setup.hpp"
#include "run/launch/store_child.hpp"

namespace hpcml::launch {

/// "HOST:PORT" of a store that already exists.
constexpr const char* k_store_variable = "HPCML_STORE_ADDR";

/// The ports at which the store of a world's ranks may be, the likeliest first.
std::vector<std::uint16_t> ports_of(const World& world);
/// The numeric addresses of this node at which such a store listens.
std::vector<std::string> own_addresses(const World& world, const RuntimeContext& context);
/// A store for a world's ranks at the first of these ports that is free.
StoreServiceRequest order_of(const World& world, const RuntimeContext& context,
                             std::vector<std::uint16_t> ports);

/// Serves for the ranks of node's world as a child of this process; `activity` hears of their programs. One
/// that `stays_for_others` can be told to (`StoreChild::part`).
util::Result<StoreChild> serve_ranks(const std::shared_ptr<const NodeSetup>& node,
                                     const LaunchRequest& request, const RuntimeContext& context,
                                     store::Activity* activity = nullptr, bool stays_for_others = false);

/// Serves for the ranks that this process starts, and tells them by the node's environment; nothing where
/// another node's launcher does, and a sentence on standard error where it cannot. The child that serves;
/// `activity` receives what the ranks' programs do.
std::optional<StoreChild> serve_started_ranks(const std::shared_ptr<NodeSetup>& node,
                                              const LaunchRequest& request, const RuntimeContext& context,
                                              store::Activity* activity);

} // namespace hpcml::launch
