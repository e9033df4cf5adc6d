// SPDX-License-Identifier: MIT
// What a rank got, as one line for --report and as text for --dry-run.
#pragma once

#include <string>
#include <vector>

#include "run/resolve/resolve.hpp"

namespace hpcml::launch {

/// "rank 3 of 16 on nid001, local rank 3, GPU 3, cores … (the kernel's own list), NIC hsn1, master
/// nid001:15321".
std::string render_report(const RankSetup& setup, const std::string& host, const model::IdSet& kernel_cpus);

/// Variables as KEY=VALUE lines, binding, paths of caches and the words of the command, for each rank of the
/// process.
std::string render_dry_run(const ResolvedLaunch& resolved, const LaunchRequest& request);

/// "GPU 3", "GPUs 2,3"; of several that a rank sees its own; empty where it has none.
std::string gpus_of_rank(const RankSetup& setup);

} // namespace hpcml::launch
