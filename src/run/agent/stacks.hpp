// SPDX-License-Identifier: MIT
// Stack traces of stalled ranks: ranks with equal frames together, the smallest groups first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hpcml::agent {

/// A thread of a rank's process.
struct ThreadStack {
  std::int64_t tid = 0;
  std::string name = {};
  std::string state = {};               ///< "sleeps in futex (futex_do_wait)"
  std::vector<std::string> frames = {}; ///< innermost first; of the kernel where no tool could look
};

struct ProcessStack {
  std::int64_t pid = 0;
  std::string name = {};
  std::string tool = {}; ///< that gave the frames: "py-spy", "gdb"; empty: the kernel only
  std::vector<ThreadStack> threads = {};
};

/// All of one rank, on its own node.
struct RankStacks {
  unsigned rank = 0;
  std::vector<ProcessStack> processes = {}; ///< empty: it was gone
  std::size_t program = 0;               ///< which of them is the rank's program, not a wrapper or a helper
  std::vector<std::string> remarks = {}; ///< why a tool could not look
};

/// Where a rank's program is, by its main thread: small enough to be sent to another node.
struct MainThreadStack {
  unsigned rank = 0;
  std::string host = {};
  std::string state = {};
  std::vector<std::string> frames = {};
  static void fields(auto& list, auto& m) {
    list("rank", m.rank);
    list("host", m.host);
    list("state", m.state);
    list("frames", m.frames);
  }
};

/// At most 64 frames.
MainThreadStack place_of(const RankStacks& rank, const std::string& host);

/// Ranks with equal frames; without any, with an equal state.
struct StackGroup {
  std::vector<MainThreadStack> ranks = {}; ///< in order; of the first one's place
};

/// The smallest groups first, equal ones in the order of their ranks.
std::vector<StackGroup> group_places(std::vector<MainThreadStack> places);

/// The first part of stacks.txt: each group with its ranks, hosts and frames. `why` is a clause: "nothing was
/// written for 60 s".
std::string render_places(const std::vector<StackGroup>& groups, const std::string& why);
/// One line: "rank 9 (node002): recv (data.py:12); 15 others: wait (comm.py:7)"; the two smallest groups and
/// the largest are named.
std::string render_odd_ranks(const std::vector<StackGroup>& groups);
/// The second part: every thread of a rank, equal ones together.
std::string render_threads(const RankStacks& rank, const std::string& host);

} // namespace hpcml::agent
