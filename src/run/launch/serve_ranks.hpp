// SPDX-License-Identifier: MIT
// The stores that launchers serve for the ranks of a step: at which addresses and ports, and for whom.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/store_child.hpp"
#include "run/resolve/rank_setup.hpp"

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

/// Serves the ranks of the node's world in a child of this process; `activity` observes their programs. A
/// child that `stays_for_others` can be detached (`StoreChild::part`).
util::Result<StoreChild> serve_ranks(const std::shared_ptr<const NodeSetup>& node,
                                     const RuntimeContext& context,
                                     store::SharedStoreActivity* activity = nullptr,
                                     bool stays_for_others = false);

/// Serves the ranks that this process starts, and sets the node's environment accordingly. Returns the
/// serving child, or nothing if another node's launcher serves, or if it fails with a message on standard
/// error. `activity` observes the ranks' programs.
std::optional<StoreChild> serve_started_ranks(const std::shared_ptr<NodeSetup>& node,
                                              const LaunchRequest& request, const RuntimeContext& context,
                                              store::SharedStoreActivity* activity);

} // namespace hpcml::launch
