// SPDX-License-Identifier: MIT
// Records faulty nodes that are found while a job runs, for its next start.
#pragma once

#include "core/node_health/bad_node_file.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::launch {

/// Appends a line to the file that the script names, and logs a failure. Does nothing without such a file.
void report_bad_node(const node_health::BadNode& bad, const util::EnvSnapshot& env);

} // namespace hpcml::launch
