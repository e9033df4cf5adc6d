// SPDX-License-Identifier: MIT
// The effects of a rank: bind, open caches, check, report, and turn into the program.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "run/launch/cache_dirs.hpp"
#include "run/launch/launch_context.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/resolve/rank_setup.hpp"
#include "run/store/shared_store_activity.hpp"

namespace hpcml::launch {

/// Opens the caches of a node's ranks at these paths, and starts what removes them.
util::Result<std::vector<CacheDir>> open_caches(const std::vector<model::PlannedCache>& caches,
                                                const std::vector<std::string>& paths);

/// Binds this process and its memory, where that is launch's part.
util::Status bind_rank(System& system, const RankSetup& setup);

/// Replaces this process by `command`; returns only with the reason why it could not.
LauncherFailure exec_command(System& system, const std::vector<std::string>& command,
                             const util::EnvSnapshot& env);

/// Binds, checks, joins the rendezvous, reports and execs the program of a rank. `activity` is touched after
/// the rendezvous. Returns only on failure, with the exit code.
int exec_rank(RankSetup setup, const LaunchRequest& request, const RuntimeContext& context,
              store::SharedStoreActivity* activity = nullptr);

} // namespace hpcml::launch
