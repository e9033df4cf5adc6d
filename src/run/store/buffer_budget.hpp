// SPDX-License-Identifier: MIT
// The memory of a server for messages that have come in part and answers that are not taken yet. Beyond its
// limit one client at a time may continue. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "run/store/store_table.hpp"

namespace hpcml::store {

class BufferBudget {
public:
  using Time = std::chrono::steady_clock::time_point;
  /// Bytes of a message that are read from each client, whatever the others hold.
  static constexpr std::size_t k_free = 1 << 10;
  /// If memory is short, a client that makes no progress for this time loses its connection.
  static constexpr std::chrono::seconds k_stall{10};

  explicit BufferBudget(std::uint64_t limit) : x_limit(limit) {}

  bool is_short() const { return x_used >= x_limit; }
  /// A client's buffers changed.
  void account(ClientId client, std::size_t before, std::size_t now) {
    x_used += now;
    x_used -= before;
    if (x_grower == client && now <= k_free) x_grower.reset();
  }
  /// True if a client whose buffers have `memory` bytes may take more.
  bool may_grow(ClientId client, std::size_t memory) {
    if (!is_short() || memory <= k_free) return true;
    if (!x_grower) x_grower = client;
    return is_grower(client);
  }
  /// True if this client may go beyond the limit.
  bool is_grower(ClientId client) const { return x_grower == client; }

  void add_paused(ClientId client) { x_paused.push_back(client); }
  /// Returns the paused clients once there is memory, or no other client makes progress.
  std::vector<ClientId> take_resumed() {
    return x_grower && is_short() ? std::vector<ClientId>() : std::exchange(x_paused, {});
  }
  /// True if clients that made no progress for `k_stall` are to lose their connections.
  bool is_stalled(Time now) {
    if (!is_short()) x_short_since.reset();
    if (!is_short()) return false;
    if (!x_short_since) x_short_since = now;
    if (now - *x_short_since < k_stall) return false;
    x_short_since = now;
    return true;
  }

private:
  std::uint64_t x_limit;
  std::uint64_t x_used = 0;         ///< by all clients
  std::optional<ClientId> x_grower; ///< the one that may go beyond the limit
  std::vector<ClientId> x_paused;
  std::optional<Time> x_short_since;
};

} // namespace hpcml::store
