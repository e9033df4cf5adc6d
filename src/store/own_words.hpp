// SPDX-License-Identifier: MIT
// What hpcml's own processes say to a store beside the programs' messages: pure. It travels as values of keys
// that no program sees, sets or lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hpcml::store {

/// Keys that begin so are never stored.
inline constexpr std::string_view k_own_keys = "\x01hpcml/";
/// compare_set, with an announcement in place of the desired value: answered with a welcome, once rank 0 has
/// come.
inline constexpr std::string_view k_announce_key = "\x01hpcml/announce";
/// get: answered with sentences about who is missing.
inline constexpr std::string_view k_missing_key = "\x01hpcml/missing";
/// get: answered once every rank has announced itself, with nothing, or once one has failed, with a sentence.
inline constexpr std::string_view k_all_here_key = "\x01hpcml/all-here";
/// compare_set that expects k_not_ours: answered with a report; torch's own servers answer what is expected,
/// and keep nothing.
inline constexpr std::string_view k_show_key = "\x01hpcml/show";
inline constexpr std::string_view k_not_ours = "?";

/// Where the programs of a step meet, as rank 0's launcher has decided it for all.
struct Decision {
  std::uint16_t port = 0;                               ///< of rank 0's program; 0: at the store that says so
  std::vector<std::pair<std::string, std::string>> set; ///< variables that tell the program
  std::vector<std::string> remove;                      ///< and those that would tell it otherwise
};

/// A rank's launcher, as it makes itself known.
struct Announcement {
  std::string job;  ///< the same text for all processes of one job and for none of another
  std::string step; ///< and of one step
  unsigned rank = 0;
  unsigned world_size = 1;
  unsigned local_rank = 0;
  std::string host;
  std::int64_t pid = 0;
  std::string failed = {}; ///< why this rank's program will not start; empty: it will
  // Rank 0's:
  std::optional<Decision> decision = {};
  std::vector<std::string> nodes = {};       ///< of the step, in the order of the tasks
  std::vector<unsigned> tasks_per_node = {}; ///< of each of them
};

/// Why a store is not for a launcher.
enum class Refusal {
  none, ///< it is
  job,  ///< another job's
  step, ///< another step's of the job
  run,  ///< for the same step's ranks, as they were started once before
  size, ///< for another number of ranks
  words ///< the launcher is of another hpcml
};

/// What a launcher is answered.
struct Welcome {
  Refusal refusal = Refusal::none;
  std::string refused; ///< the same as a clause
  std::string failed;  ///< a sentence: why the step cannot begin; empty: it can
  Decision decision;
};

std::string pack_announcement(const Announcement& announcement);
/// Nothing where these bytes are none, or name ranks that cannot be.
std::optional<Announcement> unpack_announcement(std::string_view bytes);

std::string pack_welcome(const Welcome& welcome);
/// Nothing where these bytes are none: somebody else's server said them.
std::optional<Welcome> unpack_welcome(std::string_view bytes);

} // namespace hpcml::store
