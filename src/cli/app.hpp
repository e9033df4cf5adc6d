// SPDX-License-Identifier: MIT
// The program as a whole: from its arguments to its exit code.
#pragma once

#include "core/util/env_snapshot.hpp"

namespace hpcml::cli {

/// Parses the command line, runs the command, returns the exit code.
int run(int argc, char** argv, const util::EnvSnapshot& env);

} // namespace hpcml::cli
