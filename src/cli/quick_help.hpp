// SPDX-License-Identifier: MIT
// What `hpcml` says to somebody who has typed nothing else.
#pragma once

namespace hpcml::cli {

/// Prints the five things that people do, each as a line to copy; the exit code.
int print_first_steps();

} // namespace hpcml::cli
