// SPDX-License-Identifier: MIT
// The user's key file, which protects the jobs that start after it was made.
#pragma once

#include "cli/command.hpp"

namespace hpcml::cli {

/// Makes the key file on a login node unless it exists. A job's own processes never make it, and a directory
/// that is not writable is not an error: then each job draws a key. Warns of a file that jobs would reject.
void ensure_user_key(const Context& context);

/// `hpcml config key`: makes the file and prints its path.
int run_config_key(const Context& context);

} // namespace hpcml::cli
