// SPDX-License-Identifier: MIT
// Signals by name.
#pragma once

namespace hpcml::util {

/// "SIGTERM"; null where the number is not a signal's, or a real-time signal's. The C library's function for
/// it is newer than that of many clusters.
const char* find_signal_name(int signal);

} // namespace hpcml::util
