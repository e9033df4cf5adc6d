// SPDX-License-Identifier: MIT
// Describes which ranks wait at a store for which others, from the ranks, their waits and the existing keys.
// Pure.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::store {

/// State of a rank, or of a client with an unknown rank, at the store.
struct RankStatus {
  using Time = std::chrono::steady_clock::time_point;
  enum class State {
    absent,    ///< its launcher has not come
    started,   ///< its launcher has come, its program has not
    connected, ///< its program is a client
    lost       ///< its program was one
  };
  State state = State::connected;
  std::optional<unsigned> rank{};
  std::string name;       ///< "rank 9 of 16 (nid000002, local rank 1)"
  std::string short_name; ///< "9", or the name of a client with an unknown rank
  Time since{};           ///< of that state; here: when it last said something
  std::string waits_for;  ///< the first missing key; empty if it does not wait
  Time waits_since{};
  std::string mark; ///< the last key that it set or counted up
};

/// All that a stall is read from.
struct StoreSnapshot {
  RankStatus::Time now{};
  unsigned world_size = 0; ///< 0: not known
  std::vector<RankStatus> ranks;
  std::function<bool(const std::string& key)> has_key;
  /// A key of a group's member that two ranks set: the key, and the names of both.
  struct Clash {
    std::string key, first, second;
    RankStatus::Time since{};
  };
  std::vector<Clash> clashes = {};
};

/// One thing that is waited for.
struct Stall {
  std::string what;                      ///< "group 3"
  std::string key;                       ///< one that is waited for
  std::chrono::seconds waited{0};        ///< by the one who waits longest
  std::vector<std::string> waiters = {}; ///< by short names
  std::vector<unsigned> missing = {};    ///< ranks that are, or may be, waited for
  bool certain = true;                   ///< false: at least one of `missing`
  std::string text;                      ///< all of that as a sentence, with hosts and what each one does
  static void fields(auto& list, auto& m) {
    list("what", m.what);
    list("key", m.key);
    list("waited", m.waited, std::chrono::seconds(1'000'000'000));
    list("waiters", m.waiters);
    list("missing", m.missing);
    list("certain", m.certain);
    list("text", m.text);
  }
};

/// The stalls, the longest first.
std::vector<Stall> find_stalls(const StoreSnapshot& snapshot);

/// "0-2,7": numbers in order as ranges, then names.
std::string range_text(const std::vector<std::string>& short_names);

} // namespace hpcml::store
