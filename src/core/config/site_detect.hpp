// SPDX-License-Identifier: MIT
// Which profile describes the machine that this program runs on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::config {

/// A site whose profile recognises this machine.
struct SiteMatch {
  std::string id;
  std::string by;           ///< "NERSC_HOST=perlmutter", "the host name login1.example.org"
  bool by_variable = false; ///< by a variable that the site sets, which is surer than a host name
};

/// A site and what its machines are known by.
struct SiteFingerprint {
  std::string id;
  std::vector<std::string> layers; ///< ids of the profiles that this comes from
  model::DetectionRule detect;
};

/// Whether the site is that of a machine with this environment and these names; patterns match whole values.
std::optional<SiteMatch> match_site(const std::string& id, const model::DetectionRule& detect,
                                    const util::EnvSnapshot& env, const std::vector<std::string>& host_names);

/// Returns all sites that recognise this machine, by id; if variables decide, host names are not used.
/// Profiles that cannot be loaded are omitted. Of `built_in`, the sites that are compiled in, only those are
/// read that a profile of the user changes.
std::vector<SiteMatch> detect_sites(const std::vector<std::string>& directories,
                                    const std::vector<SiteFingerprint>& built_in,
                                    const util::EnvSnapshot& env, const std::vector<std::string>& host_names);

} // namespace hpcml::config
