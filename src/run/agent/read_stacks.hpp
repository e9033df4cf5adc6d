// SPDX-License-Identifier: MIT
// Reads the stacks of this node's ranks in a bounded time: first from the kernel, then by py-spy and gdb, if
// they are installed and permitted.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "run/agent/stacks.hpp"

namespace hpcml::agent {

struct StackReadTarget {
  unsigned rank = 0;
  std::int64_t pid = 0; ///< of the process that was started for it
};

/// `env`: the environment of the ranks, in whose PATH the tools are searched. The stacks of the kernel take
/// a few milliseconds per rank; `limit` is for all tools together. A process is stopped while a tool reads
/// it.
std::vector<RankStacks> read_stacks(const std::vector<StackReadTarget>& ranks, const util::EnvSnapshot& env,
                                    std::chrono::milliseconds limit, const std::string& proc = "/proc");

} // namespace hpcml::agent
