// SPDX-License-Identifier: MIT
// One value of one option, evaluated by the same reading as a whole script's.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/slurm/version.hpp"

namespace hpcml::slurm {

/// What sbatch of this version takes instead of the value ("it may be yes or no"); without a version, what
/// the newest takes, if every version from 20.11 to 26.05 refuses it. Nothing where the value is taken, and
/// for options that take any text. `option`: its full name without dashes.
std::optional<std::string> find_value_fault(std::string_view option, const std::string& value,
                                            std::optional<Version> version);

} // namespace hpcml::slurm
