// SPDX-License-Identifier: MIT
// `hpcml launch`: from the flags to the running program.
#pragma once

#include "launch/request.hpp"
#include "util/result.hpp"

namespace hpcml::launch {

/// Becomes the program (in a task of a step) or starts and supervises the ranks of this node (with
/// `processes_per_node`, or outside Slurm). Returns the exit code of the program, or 125, 126, 127 for
/// launch's own failures.
int run_launch(const LaunchRequest& request, const Surroundings& here);

/// What run_launch would set and start, as text: for the task that it is, or for every rank that it would
/// start here.
util::Result<std::string> describe_launch(const LaunchRequest& request, const Surroundings& here);

} // namespace hpcml::launch
