// SPDX-License-Identifier: MIT
// How what a profile says is told.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/result.hpp"

namespace hpcml::site_rules {

/// " [partitions page (2024-10-15)]", or nothing where the origin names no document.
inline std::string cited(const model::Origin& origin) {
  return origin.source.empty() ? "" : " [" + origin.source.text() + "]";
}

/// What a profile says of --requeue where its Slurm takes --requeue=expedite (25.11 and later): such jobs
/// start again before all others.
inline constexpr const char* k_expedite = "expedite";

/// Its container engines, each once, in the profile's order.
std::vector<std::string> engine_names(const model::Site& site);

/// Why a retired site takes no jobs, and which one does.
util::Error describe_retirement(const model::Site& site);

} // namespace hpcml::site_rules
