// SPDX-License-Identifier: MIT
// Starting the Slurm daemons of an emulated cluster and waiting until every node is ready.
#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

#include "core/util/result.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/sandbox.hpp"

namespace hpcml::emulate {

/// The daemons that faults are about.
struct SlurmDaemons {
  pid_t controller = -1;
  std::vector<pid_t> nodes; ///< as in the layout
};

/// Writes the configuration, starts slurmctld and one slurmd per node and returns when all nodes take jobs.
/// An error carries the last lines of the log of the daemon that failed.
util::Result<SlurmDaemons> start_slurm(Sandbox& sandbox, const ClusterRunOptions& run,
                                       const std::string& user);

/// Starts slurmctld and returns when it answers; `clears_state`: it ignores the state of an earlier one.
util::Result<pid_t> start_controller(Sandbox& sandbox, const ClusterRunOptions& run, bool clears_state);

/// What the daemons and Slurm's own programs are started with.
util::EnvSnapshot daemon_environment(const std::string& state_dir);

/// The file that exists once a job's first task is about to begin on a node.
std::string job_mark(const std::string& state_dir);

/// Returns the first of `count` consecutive free TCP ports, for a cluster on loopback. `seed` decides where
/// the search begins, so that two clusters rarely collide.
util::Result<unsigned> find_free_ports(unsigned count, unsigned long long seed);

} // namespace hpcml::emulate
