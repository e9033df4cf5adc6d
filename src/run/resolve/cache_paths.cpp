// SPDX-License-Identifier: MIT
#include "run/resolve/cache_paths.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

/// Returns what distinguishes the caches of this step from those of other steps, restarts and nodes.
std::string cache_tag(const World& world, long long process_id) {
  const auto& id = world.identity;
  std::string tag = "job" + std::to_string(id.job) + "-step" + std::to_string(id.step);
  if (id.restart > 0) tag += "-restart" + std::to_string(id.restart);
  if (!world.in_job) tag += "-pid" + std::to_string(process_id);
  return tag + "-node" + std::to_string(world.layout.node_rank);
}

} // namespace

Result<std::string> cache_path(const model::PlannedCache& cache, const std::string& base,
                               const std::string& tag) {
  if (cache.name.empty() || cache.name.find('/') != std::string::npos || base.empty() || base.front() != '/')
    return Error{
        fmt::format("the site profile's cache '{}' in '{}' is not a valid directory", cache.name, base),
        "set a name without '/' and an absolute base in your own site profile (caches[])"};
  return (base == "/" ? "" : base) + "/" + cache.name + "-" + tag;
}

Result<std::vector<std::string>> cache_paths(const RankSetup& setup, long long process_id) {
  std::vector<std::string> paths;
  for (const auto& cache : setup.node->plan.caches) {
    const auto base = expand_variables(cache.base, setup.env);
    TRY(auto path, cache_path(cache, base.value_or(""), cache_tag(setup.world, process_id)));
    paths.push_back(std::move(path));
  }
  return paths;
}

std::string path_inside(const std::string& path, const std::string& below) {
  const auto relative = util::join(path_parts(below), "/");
  return relative.empty() ? path : path + "/" + relative;
}

std::vector<std::string> path_parts(const std::string& path) {
  auto parts = util::split(path, '/');
  parts.erase(std::remove_if(parts.begin(), parts.end(),
                             [](const auto& part) { return part.empty() || part == "."; }),
              parts.end());
  return parts;
}

} // namespace hpcml::launch
