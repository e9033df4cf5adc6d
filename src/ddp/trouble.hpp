// SPDX-License-Identifier: MIT
// What ranks say of themselves once one of them has failed, and who is to blame by that. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hpcml::ddp {

/// What a rank says of itself.
struct RankReport {
  enum class State {
    computing, ///< lives, and is in no operation
    waiting,   ///< in an operation
    failed,    ///< threw: `why` says what
    left,      ///< ended its group
  };
  State state = State::computing;
  std::int64_t operations = 0; ///< begun so far
  double seconds = 0;          ///< since it is in this state
  std::string operation;       ///< the last one begun
  std::string why;
};

/// One line, without a line break.
std::string pack(const RankReport& report);
/// Nothing if it is not such a line.
std::optional<RankReport> unpack_report(const std::string& line);

/// Who is to blame, and a clause that says so: "rank 3 (nid002) is gone".
struct Blame {
  std::vector<int> ranks; ///< ascending; empty: nobody is behind
  std::string clause;
};

/// Before the ranks are connected: those of whom nothing was heard have not begun; else as find_blame.
Blame find_missing(const std::vector<std::optional<RankReport>>& reports,
                   const std::vector<std::string>& hosts);

/// `reports`: by rank, nothing for one that did not answer. `hosts`: by rank, empty where not known.
Blame find_blame(const std::vector<std::optional<RankReport>>& reports,
                 const std::vector<std::string>& hosts);

} // namespace hpcml::ddp
