// SPDX-License-Identifier: MIT
// Limits on memory by cgroup v2: a sandbox's group, and in it one for each node, which the node's processes
// take for the whole tree.
//
//   hpcml-XXXXXX          below the nearest group around the caller's that hands its memory on
//     slurm_NODE          the top of the node's tree
//       daemons           where slurmd begins, and where a slurmstepd goes that has ended its step
//       system.slice      Slurm's: NODE_slurmstepd.scope/job_7/step_0/{slurm,user/task_0}
#pragma once

#include <string>

#include "core/util/cgroup_path.hpp"
#include "core/util/result.hpp"

namespace hpcml::emulate {

/// Whether the group is one of cgroup v2.
bool is_unified_group(const std::string& group);

/// Makes a sandbox's group. Where that is next to the caller's and not in it, which cgroup v2 allows no group
/// with processes, it gets the caller's limits. `cgroup` is what /proc/self/cgroup says.
util::Result<std::string> make_unified_group(const util::CgroupPath& place, const std::string& cgroup);

/// Makes a node's part of it, without a process yet.
util::Status make_unified_node(const std::string& node_group);

/// In the node's first process: it moves there, and sees no group around it from then on.
util::Status enter_unified_node(const std::string& node_group);

/// Then, in its own mounts: the machine's tree is nowhere, also not below other mounts, since programs take
/// the first that they are notified of. With `whole_sys` all of /sys is gone, and a new one to be mounted.
void hide_machine_groups(bool whole_sys);

/// And the node's is in its place.
util::Status show_unified_node();

} // namespace hpcml::emulate
