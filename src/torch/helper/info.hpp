// SPDX-License-Identifier: MIT
// `hpcml-torch info`: which LibTorch this is and what it can do.
#pragma once

namespace hpcml::helper {

/// Prints one JSON object; returns the exit code.
int run_info();

} // namespace hpcml::helper
