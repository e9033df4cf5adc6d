// SPDX-License-Identifier: MIT
// hpcml's own sources that the program contains, to compile or run them on the user's machine.
#pragma once

#include "core/util/embedded.hpp"

namespace hpcml::embedded {

std::span<const EmbeddedFile>
torch_sources(); ///< src/torch/helper, src/ddp and include/hpcml, with these directories in their names
std::span<const EmbeddedFile> probe_files(); ///< src/torch/helper/probe/*: the preflight in Python

} // namespace hpcml::embedded
