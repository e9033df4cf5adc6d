// SPDX-License-Identifier: MIT
// What torch's keys are for: the names that its process groups give them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpcml::store {

/// A key as torch means it.
struct KeyMeaning {
  enum class Kind {
    member,    ///< where a member of a Gloo group can be reached: set by it, awaited by the others
    unique_id, ///< NCCL's word for a communicator: set by the group's first rank
    sequence,  ///< torch 1's number of a group, set by its first rank
    barrier,   ///< counts those who have entered a group
    other      ///< the program's own
  };
  Kind kind = Kind::other;
  std::string place;                ///< the key without its member: the same for all of one group
  std::string group;                ///< for messages: "the default group", "group 3", "the group 'private'"
  bool is_default = false;          ///< all ranks are members, by their rank
  bool is_torchs = false;           ///< has the prefix of torch's own groups
  std::optional<unsigned> member{}; ///< where the kind is member
};

/// Reads a key of torch 1.13's or 2's clients.
KeyMeaning read_key(std::string_view key);

/// Returns a key for messages: short, with control characters escaped.
std::string shown_key(std::string_view key);

} // namespace hpcml::store
