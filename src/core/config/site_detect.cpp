// SPDX-License-Identifier: MIT
#include "core/config/site_detect.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/config/site_store.hpp"
#include "core/model/pattern.hpp"

namespace hpcml::config {

std::optional<SiteMatch> match_site(const std::string& id, const model::DetectionRule& detect,
                                    const util::EnvSnapshot& env,
                                    const std::vector<std::string>& host_names) {
  for (const auto& [name, pattern] : detect.env) {
    const auto value = env.get(name);
    if (value && !value->empty() && model::matches_pattern(*value, pattern))
      return SiteMatch{id, name + "=" + *value, true};
  }
  for (const auto& pattern : detect.hostnames)
    for (const auto& host : host_names)
      if (model::matches_pattern(host, pattern))
        return SiteMatch{id, fmt::format("the host name {}", host), false};
  return std::nullopt;
}

std::vector<SiteMatch> detect_sites(const std::vector<std::string>& directories,
                                    const std::vector<SiteFingerprint>& built_in,
                                    const util::EnvSnapshot& env,
                                    const std::vector<std::string>& host_names) {
  const auto own = own_profiles(directories);
  std::map<std::string, model::DetectionRule> sites; // by id
  for (const auto& site : built_in) {
    const bool untouched = std::none_of(site.layers.begin(), site.layers.end(),
                                        [&](const std::string& layer) { return own.contains(layer); });
    if (untouched) sites.emplace(site.id, site.detect);
  }
  if (!own.empty())
    for (const auto& id : list_sites(directories)) {
      if (sites.contains(id)) continue;
      if (auto load = load_site(id, directories); load.site) sites.emplace(id, std::move(load.site->detect));
    }
  std::vector<SiteMatch> found;
  for (const auto& [id, detect] : sites)
    if (auto match = match_site(id, detect, env, host_names)) found.push_back(std::move(*match));
  const bool sure =
      std::any_of(found.begin(), found.end(), [](const SiteMatch& match) { return match.by_variable; });
  if (sure) std::erase_if(found, [](const SiteMatch& match) { return !match.by_variable; });
  return found;
}

} // namespace hpcml::config
