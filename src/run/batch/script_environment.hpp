// SPDX-License-Identifier: MIT
// Sets up what a script's steps need before it starts: the job's key, the rendezvous store, directories.
#pragma once

#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/result.hpp"
#include "run/batch/batch_job.hpp"
#include "run/batch/batch_request.hpp"

namespace hpcml::batch {

/// The nodes of a job with spare nodes that run the program, as a hostlist.
inline constexpr const char* k_nodes_variable = "HPCML_RUN_NODES";

/// The environment of the script's body. Creates the checkpoint directory and starts the store, a child of
/// this process that ends with it. Counts the starts in this job into `job.restarts`.
util::Result<util::EnvSnapshot> prepare_script_environment(const BatchRequest& request, BatchJob& job,
                                                           const util::EnvSnapshot& env);

/// Of a shell's command: the script, the first word after the shell's options, and the words after it.
std::string script_of(const std::vector<std::string>& command);
std::vector<std::string> script_arguments(const std::vector<std::string>& command);

/// Appends a line; what cannot be written is reported.
void append_line(const std::string& file, const std::string& line);

} // namespace hpcml::batch
