// SPDX-License-Identifier: MIT
// `#SBATCH` lines: written for Slurm's own reader, which is not a shell.
#pragma once

#include <string>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::render {

/// The value so that Slurm reads exactly it. Its reader expands nothing, takes an unquoted '#' as a comment,
/// ends a word at a blank, and treats a backslash as an escape everywhere, also inside single quotes
/// (measured on 20.11 to 26.05). Line breaks, other control characters and texts of 8 KiB or more cannot be
/// written: an error.
util::Result<std::string> escape_directive_value(std::string_view value);
/// Done, or why `name` is no option that a directive can carry ("--nodes", "-N").
util::Status check_directive_name(std::string_view name);

} // namespace hpcml::render
