// SPDX-License-Identifier: MIT
// Starting the Slurm daemons of an emulated cluster and waiting until every node is ready.
#pragma once

#include <string>

#include "emulate/cluster_run.hpp"
#include "emulate/sandbox.hpp"
#include "util/result.hpp"

namespace hpcml::emulate {

/// Writes the configuration, starts slurmctld and one slurmd per node and returns when all nodes take jobs.
/// An error carries the last lines of the log of the daemon that failed.
util::Status start_slurm(Sandbox& sandbox, const ClusterRun& run, const std::string& user);

/// The first of `count` consecutive TCP ports that nobody uses, for a cluster on loopback. `seed` decides
/// where the search begins, so that two clusters rarely meet.
util::Result<unsigned> find_free_ports(unsigned count, unsigned long long seed);

} // namespace hpcml::emulate
