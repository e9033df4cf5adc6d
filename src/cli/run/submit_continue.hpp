// SPDX-License-Identifier: MIT
// hpcml submit --continue: the script of an earlier job again, with its checkpoints and its count of
// restarts.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "cli/run/submit_run.hpp"

namespace hpcml::cli {

/// Submits the kept script of `job` ("4711", of an array "4711_3"), which must have ended.
SubmitResult run_continue(const std::string& job, const std::string& format, const Context& context);

} // namespace hpcml::cli
