// SPDX-License-Identifier: MIT
// All findings on one batch script.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diag/diagnostic.hpp"
#include "slurm/version.hpp"

namespace hpcml::check {

/// What sbatch of this version refuses, and what the rules find, in the order of the lines. Without a version: over
/// all known ones, where a refusal that only some have is a warning that names them.
diag::Diagnostics check_script(const std::string& file, std::string_view text, std::optional<slurm::Version> version);

} // namespace hpcml::check
