// SPDX-License-Identifier: MIT
// The help of `hpcml torchrun`, and the table of docs/guides/use-as-torchrun.md.
#pragma once

#include <string>

namespace hpcml::torchrun {

std::string render_torchrun_help();
/// Markdown: a row for each flag with how it is treated.
std::string render_torchrun_table();

} // namespace hpcml::torchrun
