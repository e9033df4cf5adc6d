// SPDX-License-Identifier: MIT
// One JSON object on one line: how the helper talks to the core.
#pragma once

#include "hpcml/json_line.hpp"

namespace hpcml::helper {

/// Writes the line to stdout in one call, so that lines of several ranks do not mix.
void print(const JsonLine& object);

} // namespace hpcml::helper
