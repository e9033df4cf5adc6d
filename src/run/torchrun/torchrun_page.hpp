// SPDX-License-Identifier: MIT
// The table of torchrun's options in the documentation.
#pragma once

#include <string>

namespace hpcml::torchrun {

/// Markdown: a row for each flag with how it is treated.
std::string render_torchrun_table();

} // namespace hpcml::torchrun
