// SPDX-License-Identifier: MIT
// Control groups by which the kernel limits the memory and devices of an emulated cluster's jobs: below the
// group that the caller is in, or, with cgroup v2, the next around it that allows that, with its limits; gone
// with the sandbox.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/util/result.hpp"
#include "emulate/slurm_install.hpp"

namespace hpcml::emulate {

struct SandboxNode;

/// What of its jobs a cluster limits.
struct ConstrainedResources {
  bool memory = false;
  bool devices = false; ///< tasks may open no other GPUs than their own

  bool any() const { return memory || devices; }
};

/// The directories of a sandbox's groups; empty where nothing is limited. cgroup v1 has a tree for each of
/// the two, v2 one for both.
struct JobCgroups {
  std::string memory = {};
  std::string devices = {};

  const std::string& any() const { return memory.empty() ? devices : memory; }
};

/// Makes a sandbox's groups. Fails where this process may not, with what to do; then none exists.
util::Result<JobCgroups> make_job_groups(const ConstrainedResources& limits);

/// Ends what still runs in the groups and removes them with all that is in them. From outside of the sandbox.
void remove_job_groups(const JobCgroups& groups);

/// The directories of a group, each before the one that it is in.
std::vector<std::filesystem::path> directories_of_group(const std::filesystem::path& group);

/// A node's own part of a group, in which its jobs are.
std::string node_group(const std::string& group, const std::string& node);

/// Makes that of each, and below the state directory what the node's Slurm takes for the place where the
/// machine's groups are mounted; with cgroup v2 that is a view of the kernel's (SandboxNode::unified_group).
util::Status make_group_view(const JobCgroups& groups, const std::string& node, const std::string& state_dir);

/// Lets the node see that when it is started.
void show_group_view(SandboxNode& node, const JobCgroups& groups, const std::string& state_dir);

/// cgroup.conf: what is limited, of the memory swap included.
std::string make_cgroup_conf(const JobCgroups& groups, const std::string& state_dir,
                             const SlurmInstall& slurm);

} // namespace hpcml::emulate
