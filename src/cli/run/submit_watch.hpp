// SPDX-License-Identifier: MIT
// Following submitted jobs: how they stand, their log, their end.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/run/submit_run.hpp"

namespace hpcml::cli {

/// Of a person who ended the watching; the jobs go on.
constexpr int k_detached = 130;

/// Follows the jobs in order to their end. The log goes to stdout, everything else to stderr. Returns the
/// last job's exit code (of an array the highest), 5 when Slurm does not tell it, 130 when Ctrl-C ended the
/// watching.
int run_watch(const std::vector<RunningJob>& jobs, const Context& context);
/// The job of that number, to be watched; what is wrong is printed and gives `exit_code`.
std::vector<RunningJob> find_running(const std::string& id, const Context& context, int& exit_code);

} // namespace hpcml::cli
