// SPDX-License-Identifier: MIT
// The stacks of this node's ranks, in a bounded time: what the kernel says of each at once, then by py-spy
// and gdb as far as these are there, may look and the time lasts.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "run/agent/stacks.hpp"

namespace hpcml::agent {

struct RankToRead {
  unsigned rank = 0;
  std::int64_t pid = 0; ///< of the process that was started for it
};

/// `env` is where the tools are looked for: the ranks'. The kernel's part is always there, and takes a few
/// milliseconds a rank; `limit` is for the tools in all. A process that a tool looks at stands still
/// meanwhile and goes on then.
std::vector<RankStacks> read_stacks(const std::vector<RankToRead>& ranks, const util::EnvSnapshot& env,
                                    std::chrono::milliseconds limit, const std::string& proc = "/proc");

} // namespace hpcml::agent
