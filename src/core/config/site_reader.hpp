// SPDX-License-Identifier: MIT
// From a merged profile to a Site.
#pragma once

#include <optional>

#include "core/config/json_tree.hpp"
#include "core/model/site.hpp"

namespace hpcml::config {

/// The site, where its profile has no errors, and all findings.
struct SiteReadResult {
  std::optional<model::Site> site; ///< absent if there are errors
  diag::Diagnostics diagnostics;
};

/// Whether all of a profile is compared with what it must be, or was when the program was built: that is half
/// of the reading.
enum class ProfileValidationTime { whole, done_by_build };
/// 16 hex digits over what a merged profile says.
std::string hash_of(const JsonNode& profile);
/// Reads a merged profile. `file` is what the site calls its own file; `hash` is worked out where it is not
/// known.
SiteReadResult read_site(const JsonNode& profile, const std::string& file,
                         ProfileValidationTime mode = ProfileValidationTime::whole, std::string hash = {});

} // namespace hpcml::config
