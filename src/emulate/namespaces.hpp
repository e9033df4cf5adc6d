// SPDX-License-Identifier: MIT
// Namespaces and mounts of the calling process.
#pragma once

#include <string>
#include <vector>

#include "util/result.hpp"

namespace hpcml::emulate {

/// What the kernel allowed.
struct Isolation {
  bool user = false;        ///< a user namespace in which only the caller exists, as root
  unsigned caller_user = 0; ///< ids outside that user namespace
  unsigned caller_group = 0;
  bool processes = false; ///< own process ids: children of the caller end with the first of them
  bool mounts = false;
  bool hosts = false; ///< own host names
  bool network = false;
  std::vector<std::string> limits; ///< sentences about what was refused
};

/// Leaves the machine's namespaces, with privilege or through a user namespace, as far as it is allowed.
/// Process ids take effect for the children of the caller. Nothing fails: what was refused is in `limits`.
Isolation leave_host_namespaces(bool network);

/// Before a program is executed: in a user namespace the caller, who is root there for the mounts, is himself
/// again. Slurm's daemons want a real user: as root they would switch groups, which such a namespace forbids.
util::Status become_caller_again(const Isolation& isolation);

/// True if the kernel makes bridges and cables (tried in a child process, which takes them with it).
bool can_make_networks();

/// Makes no mount from here on visible outside.
util::Status keep_mounts_private();
/// Mounts an empty file system in memory.
util::Status mount_tmpfs(const std::string& target, const std::string& options);
/// Mounts /proc for the current process namespace.
util::Status mount_proc();
/// Puts a sysfs of the current network namespace over /sys and keeps the mounts below the old one that
/// programs need. `scratch` is an empty folder to build it in.
util::Status mount_sysfs(const std::string& scratch);
/// Shows `source` (a file or a folder) at `target`, which must exist.
util::Status bind_mount(const std::string& source, const std::string& target);

/// Shows what is in the folder `source` in the folder `target` besides what is there already.
util::Status overlay_mount(const std::string& source, const std::string& target);

} // namespace hpcml::emulate
