// SPDX-License-Identifier: MIT
// A batch script as the job of an emulated cluster, from sbatch to its end.
#pragma once

#include "cli/command.hpp"

namespace hpcml::cli {

/// True if the command line has a script, and its arguments, in the place of "-- COMMAND".
bool has_script(const Context& context);

/// On the login node of an emulated cluster: submits the script in `context.program`, copies the job's output
/// and returns its exit code; 5 if Slurm refuses it.
int run_script_job(const Context& context, bool is_quiet);

} // namespace hpcml::cli
