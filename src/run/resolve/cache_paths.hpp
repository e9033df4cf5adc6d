// SPDX-License-Identifier: MIT
// Where the caches of a node's ranks are. Pure.
#pragma once

#include <string>
#include <vector>

#include "core/model/plan.hpp"
#include "core/util/result.hpp"
#include "run/resolve/rank_setup.hpp"

namespace hpcml::launch {

/// Returns "BASE/NAME-TAG" for a cache; `tag` distinguishes steps and nodes. Rejects a name with '/'.
util::Result<std::string> cache_path(const model::PlannedCache& cache, const std::string& base,
                                     const std::string& tag);

/// Returns the directories of this step's caches on this node, in the order of the plan. `process_id`: of
/// this process, which distinguishes launches outside a job.
util::Result<std::vector<std::string>> cache_paths(const RankSetup& setup, long long process_id);

/// What a cache's variable is set to: `below` inside the cache's directory.
std::string path_inside(const std::string& path, const std::string& below);

/// Returns the names in a relative path, without empty ones and ".".
std::vector<std::string> path_parts(const std::string& path);

} // namespace hpcml::launch
