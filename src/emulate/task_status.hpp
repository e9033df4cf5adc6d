// SPDX-License-Identifier: MIT
// /proc/PID/status: which task a path means, and its text with another node's CPUs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "core/model/id_set.hpp"
#include "emulate/mem_policy.hpp"

namespace hpcml::emulate {

/// What a thread belongs to.
struct ThreadProcessIds {
  pid_t process = 0; ///< thread group
  pid_t parent = 0;
};

/// Process and parent of a thread; nothing if it is gone.
std::optional<ThreadProcessIds> read_task_links(pid_t tid);
/// All threads of all processes that /proc shows.
std::vector<pid_t> list_all_threads();

/// The thread whose file of this name an absolute `path` means, as `caller` reads it: /proc/self/status,
/// /proc/7/task/9/status …
std::optional<pid_t> find_file_task(std::string_view path, std::string_view name, pid_t caller);

/// `status` with the lines about allowed CPUs and memory nodes replaced, in the kernel's format.
std::string render_status(std::string_view status, const model::IdSet& cpus, unsigned cpu_ids,
                          const model::IdSet& memory_nodes);

/// /proc/PID/numa_maps with the task's policy where the kernel names its own, and its pages on node `pages`.
std::string render_numa_maps(std::string_view maps, const MemPolicy& policy, unsigned pages);

/// The kernel's mask format: words of 32 bits in hexadecimal, the highest first, "ffffffff,ffffffff" for 64
/// of 64.
std::string render_kernel_mask(const model::IdSet& ids, unsigned id_count);

} // namespace hpcml::emulate
