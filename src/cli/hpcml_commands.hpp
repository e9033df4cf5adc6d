// SPDX-License-Identifier: MIT
// The program hpcml: its table of commands.
#pragma once

#include "cli/app.hpp"

namespace hpcml::cli {

const CommandLineProgram& hpcml_program();

} // namespace hpcml::cli
