// SPDX-License-Identifier: MIT
// A value, read as its option's kind has it, into the request.
#pragma once

#include <optional>
#include <string>

#include "core/slurm/job_request.hpp"

namespace hpcml::slurm {

/// Puts the setting's value into the request. Where this version's sbatch refuses the value: what it could
/// be.
std::optional<std::string> read_value(const OptionSetting& setting, ComparisonTrackingVersion version,
                                      JobOptions& request);

} // namespace hpcml::slurm
