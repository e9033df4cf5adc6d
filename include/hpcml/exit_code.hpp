// SPDX-License-Identifier: MIT
// The exit codes of hpcml's programs, for their callers. C++17, header-only, no dependency.
#pragma once

namespace hpcml {

/// What a command ended with. `hpcml launch` and `hpcml emulate` return the code of the program that they ran
/// (128 + signal where it was killed); the last three are launch's own, as `env` and `timeout` have them.
enum ExitCode : int {
  k_ok = 0,
  k_findings = 1, ///< at or above --fail-on
  k_usage = 2,
  k_invalid_file = 3,     ///< a job or site file
  k_cannot_satisfy = 4,   ///< the site cannot do what is asked
  k_world_failed = 5,     ///< Slurm or a system call
  k_preflight_failed = 6, ///< a rank is missing or a check failed
  k_internal = 70,        ///< a bug in hpcml
  k_cannot_set_up = 125,
  k_cannot_execute = 126,
  k_not_found = 127, ///< the program to run
};

} // namespace hpcml
