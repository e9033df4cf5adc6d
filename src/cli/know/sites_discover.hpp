// SPDX-License-Identifier: MIT
// The parts of `hpcml sites` that ask the cluster they run on.
#pragma once

#include "cli/command.hpp"

namespace hpcml::cli {

/// `hpcml sites discover`, which writes a profile of the cluster.
void add_sites_discover(CLI::App& sites, Context& context, int& exit_code);
/// `hpcml sites diff`, which says where profile and cluster disagree.
void add_sites_diff(CLI::App& sites, Context& context, int& exit_code);

} // namespace hpcml::cli
