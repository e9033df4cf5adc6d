// SPDX-License-Identifier: MIT
// Who of a step's ranks has come to where they meet, and who is missing. Pure: no sockets, no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "run/store/hpcml_protocol.hpp"
#include "run/store/table.hpp"

namespace hpcml::store {

/// What is known of a rank.
struct KnownRank {
  using Time = std::chrono::steady_clock::time_point;
  bool announced = false; ///< its launcher has come
  std::string host;       ///< as its launcher names it
  std::string peer;       ///< as the kernel does
  unsigned local_rank = 0;
  std::int64_t pid = 0;                 ///< of the launcher, and of the program that it becomes
  Time since{};                         ///< when it was announced
  std::optional<ClientId> program = {}; ///< the program's connection, while it lasts
  bool came = false;                    ///< the program was seen, also where it has gone since
  std::string failed;                   ///< why its program will not start
  bool missed = false;                  ///< people were told that it is missing
};

/// The ranks of one step.
class RankRegistry {
public:
  using Time = KnownRank::Time;

  explicit RankRegistry(std::chrono::seconds patience = std::chrono::seconds(20)) : x_patience(patience) {}

  /// A launcher has come. What is to be said of that: that a rank that was missed is there.
  std::vector<std::string> announce(const JoinRequest& request, const std::string& peer, Time now);
  /// A program's client says its process's number, as torch 2's do when they connect.
  std::vector<std::string> program_came(ClientId client, const std::string& peer, std::int64_t pid, Time now);
  void client_left(ClientId client);
  /// What people should know by now: who is missing, and for how long. Each time it is said again three times
  /// as late. `unknown`: programs' clients beyond those that said their process's number; each may be that of
  /// any rank.
  std::vector<std::string> due_messages(Time now, std::size_t unknown);

  bool begun() const { return !x_members.empty(); }
  /// Whether every rank has been announced.
  bool complete() const { return begun() && x_announced == x_members.size(); }
  /// Whether every rank was heard, also of those that cannot start.
  bool all_received() const { return begun() && unannounced().empty(); }
  /// By rank.
  const std::vector<KnownRank>& members() const { return x_members; }
  std::optional<unsigned> rank_of_client(ClientId client) const;
  std::optional<unsigned> rank_of(const std::string& peer, std::int64_t pid) const;
  /// "rank 9 of 16 (nid000002, local rank 1)", as far as that is known.
  std::string name(unsigned rank) const;
  /// Clients that said it, as long as they last.
  std::size_t known_clients() const { return x_clients.size(); }
  /// Who is missing, in sentences; empty where nobody is.
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

  std::chrono::seconds x_patience;
  std::vector<KnownRank> x_members;
  std::size_t x_announced = 0;
  std::vector<std::string> x_nodes;
  std::vector<unsigned> x_tasks_per_node;
  std::map<std::pair<std::string, std::int64_t>, unsigned> x_by_process;
  std::unordered_map<ClientId, unsigned> x_clients; ///< the rank whose program it is
  Time x_first{}, x_first_program{};
  bool x_any_program = false;
  std::chrono::seconds x_next = x_patience, x_next_program = x_patience;
};

} // namespace hpcml::store
