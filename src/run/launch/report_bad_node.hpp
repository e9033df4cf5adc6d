// SPDX-License-Identifier: MIT
// What hpcml finds out about nodes while a job runs, told to the job's next start.
#pragma once

#include "core/node_health/bad_node_file.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::launch {

/// Adds a line to the file that the script names; says so where it cannot. Without such a file nothing is
/// done.
void report_bad_node(const node_health::BadNode& bad, const util::EnvSnapshot& env);

} // namespace hpcml::launch
