// SPDX-License-Identifier: MIT
// When programs last changed something at a store, for the process that has started the store's own.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "run/store/protocol.hpp"

namespace hpcml::store {

/// What the process groups of a store's programs show of their worlds.
struct ObservedWorlds {
  unsigned alone = 0;  ///< programs that entered the default group as its first member
  bool joined = false; ///< a program entered it as another member
  /// Number of programs that set up a world of 1: several are the first member of their default group, and
  /// none is another one. Else 0.
  unsigned worlds_of_one() const { return joined || alone < 2 ? 0 : alone; }
  static void fields(auto& list, auto& m) {
    list("alone", m.alone);
    list("joined", m.joined);
  }
};

/// Shared with the children that are forked after it was made.
class SharedStoreActivity {
public:
  using Time = std::chrono::steady_clock::time_point;
  SharedStoreActivity();
  ~SharedStoreActivity();
  SharedStoreActivity(const SharedStoreActivity&) = delete;
  SharedStoreActivity& operator=(const SharedStoreActivity&) = delete;

  void touch(Time now);
  /// The clock's beginning where nothing was changed, or no memory could be had.
  Time last() const;
  void note_worlds(const ObservedWorlds& seen);
  ObservedWorlds worlds() const;

private:
  struct Shared {
    std::atomic<std::int64_t> nanoseconds{0};
    std::atomic<unsigned> alone{0};
    std::atomic<bool> joined{false};
  };
  Shared* x_shared = nullptr;
};

/// True if a message changes the content of a store. Others show no activity: NCCL's watchdogs poll also
/// while all ranks hang. Pure.
bool changes_store(const TcpStoreMessage& message);

} // namespace hpcml::store
