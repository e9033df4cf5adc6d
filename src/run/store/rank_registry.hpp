// SPDX-License-Identifier: MIT
// Ranks of a step that have connected to the store, and missing ranks. Pure: no sockets, no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/store/hpcml_protocol.hpp"
#include "run/store/store_table.hpp"

namespace hpcml::store {

/// State of a rank.
struct KnownRank {
  using Time = std::chrono::steady_clock::time_point;
  bool announced = false; ///< its launcher has connected
  std::string host;       ///< as its launcher names it
  std::string peer;       ///< as the kernel does
  unsigned local_rank = 0;
  std::int64_t pid = 0;                 ///< of the launcher, and of the program that it becomes
  Time since{};                         ///< when it was announced
  std::optional<ClientId> program = {}; ///< the program's connection, while it lasts
  bool came = false;                    ///< the program has connected, even if it has disconnected since
  std::string failed;                   ///< why its program will not start
  bool missed = false;                  ///< it was reported as missing
};

/// The ranks of one step.
class RankRegistry {
public:
  using Time = KnownRank::Time;

  explicit RankRegistry(std::chrono::seconds warn_after = std::chrono::seconds(20))
      : x_warn_after(warn_after) {}

  /// Registers a launcher. Returns messages, for a rank that was reported as missing.
  std::vector<std::string> announce(const JoinRequest& request, const std::string& peer, Time now);
  /// Registers a program by its process number, which clients of torch 2 send when they connect.
  std::vector<std::string> program_came(ClientId client, const std::string& peer, std::int64_t pid, Time now);
  void client_left(ClientId client);
  /// Returns messages about missing ranks that are due; each repetition takes three times as long.
  /// `unknown`: number of clients without a process number; each may belong to any rank.
  std::vector<std::string> due_messages(Time now, std::size_t unknown);

  bool begun() const { return !x_members.empty(); }
  /// True if every rank has been announced.
  bool complete() const { return begun() && x_announced == x_members.size(); }
  /// True if every rank has connected or reported that it cannot start.
  bool all_received() const { return begun() && unannounced().empty(); }
  /// By rank.
  const std::vector<KnownRank>& members() const { return x_members; }
  std::optional<unsigned> rank_of_client(ClientId client) const;
  std::optional<unsigned> rank_of(const std::string& peer, std::int64_t pid) const;
  /// Returns "rank 9/16 (nid000002, local 1)" without unknown parts.
  std::string name(unsigned rank) const;
  /// Returns the number of connected clients with a process number.
  std::size_t known_clients() const { return x_clients.size(); }
  /// Returns messages about missing ranks.
  std::vector<std::string> missing(Time now, std::size_t unknown) const;

private:
  struct Slot {
    std::string host; ///< empty: not known
    unsigned local_rank = 0;
  };
  enum class Order { unknown, block, cyclic };
  Order order() const;
  std::vector<Slot> slots(Order order) const;
  std::vector<Slot> known_slots() const;
  std::string free_hosts() const;
  std::string name(unsigned rank, const std::vector<Slot>& slots) const;
  std::string range_text(const std::vector<unsigned>& ranks, const std::vector<Slot>& slots) const;
  std::vector<unsigned> unannounced() const;
  std::vector<unsigned> ranks_without_program(std::size_t unknown) const;
  std::vector<std::string> describe_missing(const std::vector<unsigned>& ranks, const std::string& what,
                                            const std::string& what_of_one) const;

  std::chrono::seconds x_warn_after;
  std::vector<KnownRank> x_members;
  std::size_t x_announced = 0;
  std::vector<std::string> x_nodes;
  std::vector<unsigned> x_tasks_per_node;
  std::map<std::pair<std::string, std::int64_t>, unsigned> x_by_process;
  std::unordered_map<ClientId, unsigned> x_clients; ///< the rank whose program it is
  Time x_first{}, x_first_program{};
  bool x_any_program = false;
  std::chrono::seconds x_next = x_warn_after, x_next_program = x_warn_after;
};

} // namespace hpcml::store
