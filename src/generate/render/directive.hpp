// SPDX-License-Identifier: MIT
// `#SBATCH` lines: written for Slurm's own reader, which is not a shell.
#pragma once

#include <string>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::render {

/// Returns the value so that Slurm reads exactly it. Its reader expands nothing, treats an unquoted '#' as a
/// comment, ends a word at a space, and treats a backslash as an escape everywhere, also inside single quotes
/// (measured on 20.11 to 26.05). Line breaks, other control characters and texts of 8 KiB or more are an
/// error, which names the option.
util::Result<std::string> escape_directive_value(std::string_view value,
                                                 std::string_view option = "the option");
/// Returns an error if `name` is not an option ("--nodes", "-N") that a directive can have.
util::Status check_directive_name(std::string_view name);

} // namespace hpcml::render
