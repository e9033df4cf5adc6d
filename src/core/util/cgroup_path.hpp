// SPDX-License-Identifier: MIT
// Where a process is in the kernel's tree of groups that have their memory counted, or their devices limited.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpcml::util {

/// Where a process is in the tree of groups of one controller.
struct CgroupPath {
  bool unified = false; ///< cgroup v2
  std::string top;      ///< directory that is mounted: "/sys/fs/cgroup/memory"
  std::string path; ///< of the group below it: "/slurm/uid_1/job_7/step_0"; "/" where it is the top itself
};

/// From /proc/self/cgroup and /proc/self/mountinfo; nothing where no controller counts memory.
std::optional<CgroupPath> parse_memory_place(std::string_view cgroup, std::string_view mountinfo);

/// The same for another controller of cgroup v1 ("devices"); unified if it has no separate tree.
std::optional<CgroupPath> parse_group_place(std::string_view controller, std::string_view cgroup,
                                            std::string_view mountinfo);

} // namespace hpcml::util
