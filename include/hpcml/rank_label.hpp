// SPDX-License-Identifier: MIT
// How messages name a rank: one form for launch, the agents, the store and the preflight.
//
// C++17, header-only, no dependency.
#pragma once

#include <string>

namespace hpcml {

/// A rank, and where it runs.
struct RankLocation {
  unsigned rank = 0;
  unsigned world_size = 0; ///< 0: unknown
  std::string host{};      ///< empty: unknown
  int local_rank = -1;     ///< -1: unknown
};

/// Returns "rank 3/16 (node002, local 1)" without the parts that are unknown. `more` is added in the
/// parentheses: "GPU 1".
inline std::string rank_label(const RankLocation& location, const std::string& more = {}) {
  std::string where = location.host;
  const auto add = [&where](const std::string& part) { where += (where.empty() ? "" : ", ") + part; };
  if (location.local_rank >= 0) add("local " + std::to_string(location.local_rank));
  if (!more.empty()) add(more);
  std::string text = "rank " + std::to_string(location.rank);
  if (location.world_size > 0) text += "/" + std::to_string(location.world_size);
  return where.empty() ? text : text + " (" + where + ")";
}

} // namespace hpcml
