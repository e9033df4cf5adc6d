// SPDX-License-Identifier: MIT
// Signals by name.
#pragma once

#include <string>

namespace hpcml::util {

/// "SIGTERM"; null where the number is not a signal's, or a real-time signal's. The C library's function for
/// it is newer than that of many clusters.
const char* find_signal_name(int signal);
/// "SIGTERM"; "signal 40" where the name is not known.
std::string signal_name(int signal);
/// How a process ended, as waitpid gives it: "was killed by SIGSEGV" or "exited with code 3".
std::string describe_end(int status);

} // namespace hpcml::util
