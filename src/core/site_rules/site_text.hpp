// SPDX-License-Identifier: MIT
// Texts about facts of a profile.
#pragma once

#include <string>
#include <vector>

#include "core/model/site.hpp"
#include "core/util/result.hpp"

namespace hpcml::site_rules {

/// What a profile says of --requeue where its Slurm takes --requeue=expedite (25.11 and later): such jobs
/// start again before all others.
inline constexpr const char* k_expedite = "expedite";

/// Its container engines, each once, in the profile's order.
std::vector<std::string> engine_names(const model::Site& site);

/// Returns the names of the partitions that a job may name.
std::vector<std::string> partition_names(const model::Site& site);

/// Returns the command that shows partitions, QoS, features and node types of a site.
std::string show_command(const model::Site& site);

/// Returns the sentence for a site without Slurm.
std::string describe_no_scheduler(const model::Site& site);

/// Returns the sentence for settings of a job that must not be combined, or that do harm alone.
std::string describe_conflict(const model::ConflictRule& rule, const std::vector<std::string>& settings,
                              const model::Site& site);

/// Returns why a retired site accepts no jobs, and which site does.
util::Error describe_retirement(const model::Site& site);

} // namespace hpcml::site_rules
