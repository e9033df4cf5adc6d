// SPDX-License-Identifier: MIT
// hpcml store show: who waits at a job's store for whom.
#pragma once

#include "cli/command.hpp"

namespace hpcml::cli {

/// Adds `show` to the command `store`.
void add_store_show(CLI::App& store, Context& context, int& exit_code);

} // namespace hpcml::cli
