// SPDX-License-Identifier: MIT
// Namespaces and mounts of the calling process.
#pragma once

#include <string>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::emulate {

/// How a sandbox's processes are to the machine's.
struct SandboxNamespaces {
  bool user = false;       ///< a user namespace in which only the caller exists, as root
  bool other_user = false; ///< programs run under ids that are not those of the processes that start them
  unsigned run_user = 0;   ///< ids that programs run under
  unsigned run_group = 0;
  bool network = false;            ///< own network namespaces
  std::vector<std::string> limits; ///< sentences about what was refused and can be done without
};

/// Leaves the machine's namespaces, with privilege or through a user namespace. Process ids take effect for
/// the children of the caller. Fails where the machine allows none, with what to do; a network that is
/// refused is in `limits`.
util::Result<SandboxNamespaces> leave_host_namespaces(bool network);

/// Before a program is executed: in a user namespace the caller, who is root there for the mounts, is himself
/// again. Slurm's daemons want a real user: as root they would switch groups, which such a namespace forbids;
/// so a caller who is root and may not switch groups runs them as a user without privileges.
util::Status become_user(const SandboxNamespaces& isolation);

/// True if the kernel makes bridges and cables (tried in a child process, which takes them with it).
bool can_make_networks();

/// Makes no mount from here on visible outside.
util::Status keep_mounts_private();
/// Mounts an empty file system in memory.
util::Status mount_tmpfs(const std::string& target, const std::string& options);
/// Mounts /proc for the current process namespace.
util::Status mount_proc();
/// Puts a sysfs of the current network namespace over /sys and keeps the mounts below the old one that
/// programs need. `scratch` is an empty directory to build it in.
util::Status mount_sysfs(const std::string& scratch);
/// Shows `source` (a file or a directory) at `target`, which must exist.
util::Status bind_mount(const std::string& source, const std::string& target);

/// Shows what is in the directory `source` in the directory `target` besides what already exists.
util::Status overlay_mount(const std::string& source, const std::string& target);

} // namespace hpcml::emulate
