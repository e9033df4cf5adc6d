// SPDX-License-Identifier: MIT
// Control groups by which the kernel limits the memory and devices of an emulated cluster's jobs: below the
// group that the caller is in, or, with cgroup v2, the next around it that allows that, with its limits; gone
// with the sandbox.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emulate/sandbox.hpp"
#include "emulate/slurm_install.hpp"
#include "util/result.hpp"

namespace hpcml::emulate {

/// Makes a sandbox's group; its folder. Fails where this process may not, with what to do.
util::Result<std::string> make_memory_group();

/// Makes the one of the devices, which cgroup v1 has in a tree of their own.
util::Result<std::string> make_device_group();

/// Ends what still runs in the group and removes it with all that is in it. From outside of the sandbox.
void remove_memory_group(const std::string& group);

/// The folders of a group, each before the one that it is in.
std::vector<std::filesystem::path> folders_of_group(const std::filesystem::path& group);

/// A node's own part of the group, in which its jobs are.
std::string node_memory_group(const std::string& group, const std::string& node);

/// Makes that, and below the state directory what the node's Slurm takes for the place where the machine's
/// groups are mounted; with cgroup v2 that is a view of the kernel's (SandboxNode::unified_group).
util::Status make_memory_view(const std::string& group, const std::string& node,
                              const std::string& state_dir);

/// The same of the devices, in the same place.
util::Status make_device_view(const std::string& group, const std::string& node,
                              const std::string& state_dir);

/// Lets the node see that when it is started.
void show_memory_view(SandboxNode& node, const std::string& group, const std::string& state_dir);

/// cgroup.conf: what is limited, of the memory swap included. `memory_group`, `device_group`: empty where
/// not.
std::string make_cgroup_conf(const std::string& memory_group, const std::string& device_group,
                             const std::string& state_dir, const SlurmInstall& slurm);

} // namespace hpcml::emulate
