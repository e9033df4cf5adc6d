// SPDX-License-Identifier: MIT
// Detects processes of this node's ranks that the kernel killed out of memory, and the limit that was
// reached.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "run/launch/system.hpp"

namespace hpcml::launch {

/// A group of processes that has its memory counted.
struct MemoryCgroup {
  std::string path;                        ///< empty: the whole machine
  std::optional<unsigned long long> limit; ///< bytes
  unsigned long long kills = 0;            ///< processes that the kernel killed (out of memory)
  unsigned long long hits = 0;             ///< how often its limit was reached
  bool has_been_full = false;              ///< at some time; with cgroup v2 `hits` says all
};

/// Parses a group's files memory.oom_control, memory.limit_in_bytes, memory.failcnt and
/// memory.max_usage_in_bytes (Linux 6.18 counts no failures if the limit with swap is equally low). A
/// missing file is an empty text.
MemoryCgroup parse_memory_v1(std::string path, std::string_view oom_control, std::string_view limit,
                             std::string_view failcnt, std::string_view max_usage);
/// The same of memory.events and memory.max.
MemoryCgroup parse_memory_v2(std::string path, std::string_view events, std::string_view max);

/// This process's own group, in which its ranks are, then those around it; the machine's counter where the
/// group has none. `root` is what stands for "/".
std::vector<MemoryCgroup> read_memory_levels(const std::string& root = "/",
                                             System& system = System::native());

/// Compares two readings, the first from before the start of the ranks. Returns "the kernel killed 1 process:
/// the job's limit of 16 GiB was reached (/slurm/uid_1/job_7)", or nothing if it killed none.
std::optional<std::string> find_out_of_memory(const std::vector<MemoryCgroup>& before,
                                              const std::vector<MemoryCgroup>& after);

} // namespace hpcml::launch
