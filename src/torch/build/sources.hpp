// SPDX-License-Identifier: MIT
// What of hpcml's own sources is in the program, to be compiled or run on the user's machine.
#pragma once

#include "core/util/embedded.hpp"

namespace hpcml::embedded {

std::span<const File>
torch_sources(); ///< src/torch/helper, src/ddp and include/hpcml, with these folders in their names
std::span<const File> probe_files(); ///< src/torch/helper/probe/*: the preflight in Python

} // namespace hpcml::embedded
