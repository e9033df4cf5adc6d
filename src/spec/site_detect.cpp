// SPDX-License-Identifier: MIT
#include "spec/site_detect.hpp"

#include <algorithm>

#include "model/pattern.hpp"
#include "spec/site_store.hpp"

namespace hpcml::spec {

std::optional<SiteMatch> match_site(const model::Site& site, const util::EnvSnapshot& env, const std::vector<std::string>& host_names) {
  for (const auto& [name, pattern] : site.detect.env) {
    const auto value = env.get(name);
    if (value && !value->empty() && model::matches_pattern(*value, pattern)) return SiteMatch{site.id, name + "=" + *value, true};
  }
  for (const auto& pattern : site.detect.hostnames)
    for (const auto& host : host_names)
      if (model::matches_pattern(host, pattern)) return SiteMatch{site.id, "the host name " + host, false};
  return std::nullopt;
}

std::vector<SiteMatch> detect_sites(const std::vector<std::string>& directories, const util::EnvSnapshot& env,
                                    const std::vector<std::string>& host_names) {
  std::vector<SiteMatch> found;
  for (const auto& id : list_sites(directories)) {
    const auto load = load_site(id, directories);
    if (!load.site) continue;
    if (auto match = match_site(*load.site, env, host_names)) found.push_back(std::move(*match));
  }
  const bool sure = std::any_of(found.begin(), found.end(), [](const SiteMatch& match) { return match.by_variable; });
  if (sure) std::erase_if(found, [](const SiteMatch& match) { return !match.by_variable; });
  return found;
}

} // namespace hpcml::spec
