// SPDX-License-Identifier: MIT
// Watches a store's clients for stalls: who waits, for what, since when, and what the others last did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/store/rank_registry.hpp"
#include "run/store/shared_store_activity.hpp"
#include "run/store/stall.hpp"
#include "run/store/store_table.hpp"

namespace hpcml::store {

/// What `hpcml store show` prints.
struct StoreReport {
  static constexpr std::string_view k_name = "store report";
  static constexpr auto k_most_counted = ~std::uint64_t{0};
  std::size_t ranks = 0;     ///< 0: unknown
  std::size_t announced = 0; ///< launchers
  std::size_t connected = 0; ///< programs that are clients
  std::size_t lost = 0;      ///< that were
  std::size_t waiting = 0;
  std::size_t keys = 0;
  std::uint64_t bytes = 0;
  ObservedWorlds worlds = {};
  std::vector<std::string> missing = {}; ///< sentences of the roster
  std::vector<Stall> stalls = {};
  static void fields(auto& list, auto& m) {
    list("ranks", m.ranks, k_most_counted);
    list("announced", m.announced, k_most_counted);
    list("connected", m.connected, k_most_counted);
    list("lost", m.lost, k_most_counted);
    list("waiting", m.waiting, k_most_counted);
    list("keys", m.keys, k_most_counted);
    list("bytes", m.bytes, k_most_counted);
    list("worlds", m.worlds);
    list("missing", m.missing);
    list("stalls", m.stalls);
  }
};

/// Observes the messages of programs. No clock and no sockets.
class StoreWatch {
public:
  using Time = RankStatus::Time;

  void begins(const StoreTable& table) { x_table = &table; }
  void connected(ClientId client, const std::string& peer);
  void on_message(ClientId client, const TcpStoreMessage& message, Time now);
  /// Before the roster forgets the client.
  void left(ClientId client, const RankRegistry& registry, Time now);

  /// Returns messages that are due: waits that last `warn_after`, again each time three times as long, and
  /// waits that have ended.
  std::vector<std::string> due_messages(const RankRegistry& registry, std::chrono::seconds warn_after,
                                        Time now);
  StoreReport report(const RankRegistry& registry, std::size_t unknown, Time now) const;
  ObservedWorlds worlds() const { return {static_cast<unsigned>(x_first_members.size()), x_joined}; }

private:
  struct Trace {
    bool used = false;
    std::uint64_t number = 0; ///< of the connection, among all that there were
    std::string peer;
    std::optional<std::int64_t> pid = {};
    std::optional<unsigned> rank = {}; ///< from its own keys
    Time spoke{}, waits_since{};
    std::string mark;   ///< the last key that it set or counted up
    std::string awaits; ///< the last key that it waited for, or asked again and again
    bool polls = false;
  };
  struct WaitReport {
    std::string what;
    std::chrono::seconds next{0};
  };
  void on_key_requested(const Trace& trace, std::string_view key);
  void entered(ClientId client, Trace& trace, std::string_view key);
  std::optional<ClientId> first_setter(ClientId client, const Trace& trace, std::string_view key) const;
  void note_wait(Trace& trace, std::string_view key, bool polls, Time now);
  std::optional<unsigned> rank_of(ClientId client, const RankRegistry& registry) const;
  std::string name_of(ClientId client) const;
  std::string name_of(ClientId client, const RankRegistry& registry) const;
  RankStatus status_of(ClientId client, Time now) const;
  StoreSnapshot snapshot(const RankRegistry& registry, Time now) const;
  void add_members(const RankRegistry& registry, StoreSnapshot& snapshot) const;
  bool lasts_long(std::chrono::seconds warn_after, Time now) const;

  const StoreTable* x_table = nullptr;
  std::vector<Trace> x_traces; ///< by client
  std::uint64_t x_connections = 0;
  struct Setter {
    ClientId client;
    std::uint64_t connection;
  };
  std::unordered_map<std::size_t, Setter> x_setters; ///< who set a key of a member, by the key's hash
  /// Processes that entered the default group as its first member, by address and number.
  std::set<std::pair<std::string, std::int64_t>> x_first_members;
  bool x_joined = false; ///< a program entered it as another member
  std::map<unsigned, Time> x_lost;
  struct Clash {
    std::string key;
    ClientId clients[2];
    std::string names[2]; ///< where their ranks are not known
    Time since{};
  };
  std::vector<Clash> x_clashes;
  std::map<std::string, WaitReport> x_reported; ///< by what is waited for
};

} // namespace hpcml::store
