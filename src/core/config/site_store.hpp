// SPDX-License-Identifier: MIT
// Finding and loading site profiles: directories first, then those compiled in.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/diag/diagnostic.hpp"
#include "core/model/site.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::config {

/// Directories to look in, in order: --sites-dir, $HPCML_SITES_PATH (colon-separated), ~/.config/hpcml/sites,
/// /etc/hpcml/sites. The compiled-in profiles come last.
std::vector<std::string> site_directories(const std::vector<std::string>& from_flags,
                                          const util::EnvSnapshot& env);

/// The directories of $HPCML_SITES_PATH (colon-separated), absolute.
std::vector<std::string> named_site_directories(const util::EnvSnapshot& env);

/// A site, or why not. `source` is the text the diagnostics' spans point into.
struct SiteLoad {
  std::optional<model::Site> site;
  diag::Diagnostics diagnostics;
  std::string source;
  /// True when no profile has this id (usage: exit 2); false when the profile exists but wrong (exit 3).
  bool not_found = false;
  /// Ids of the profiles that were read for it: its own, then those that it extends.
  std::vector<std::string> layers;
};
/// Which profiles are checked in full while they are read.
enum class ProfilesToValidate {
  all,     ///< those that are compiled in as well: when the program is built
  brought, ///< those that a user brings
};
/// The site of that id from the first place that has it.
SiteLoad load_site(const std::string& id, const std::vector<std::string>& directories,
                   ProfilesToValidate scope = ProfilesToValidate::brought);
/// Reads a profile given as a path.
SiteLoad load_site_file(const std::string& path, const std::vector<std::string>& directories);

/// One fact of a profile, flat, for users.
struct SiteFact {
  std::string path; ///< "partitions[0].max_time"
  std::string value;
  std::string source;  ///< id in the profile's sources; for a value without one the file that states it
  std::string checked; ///< YYYY-MM-DD
  std::string note;
  std::vector<model::SupersededValue> superseded;
};
/// A profile as a list of its facts.
struct SiteFacts {
  std::vector<SiteFact> facts; ///< in the profile's order
  std::string json;            ///< the merged profile in one line
};
/// The site unchanged on a day (YYYY-MM-DD): one whose last day is over by then is retired.
model::Site as_of(model::Site site, const std::string& day);
/// The facts of a site that load_site can load; empty for any other.
SiteFacts load_facts(const std::string& id, const std::vector<std::string>& directories);

/// Ids of the profiles, abstract layers too, that are in the directories: what is compiled in is not
/// consulted for these.
std::set<std::string> own_profiles(const std::vector<std::string>& directories);
/// Ids of all sites that can be found, sorted, abstract layers (centres) omitted.
std::vector<std::string> list_sites(const std::vector<std::string>& directories);

} // namespace hpcml::config
