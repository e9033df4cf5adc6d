// SPDX-License-Identifier: MIT
// One rank as a child process: started with its own process group and pipes, dead when launch is dead.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <sys/types.h>

#include "launch/rank_setup.hpp"

namespace hpcml::launch {

/// A started rank. Descriptors are the reading ends of its output, -1 once they are closed.
struct RankProcess {
  unsigned rank = 0;
  unsigned local_rank = 0;
  pid_t pid = -1;
  int out = -1;
  int err = -1;
  bool running = true;
  int status = 0; ///< as waitpid gives it
  std::chrono::steady_clock::time_point end{};
};

/// Starts a rank. `mask`: the signal mask to restore in it; `input`: its standard input, -1 for none.
util::Result<RankProcess> start_rank(RankSetup& setup, const LaunchRequest& request, const Surroundings& here,
                                     const sigset_t& mask, int input);

/// "was killed by SIGSEGV" or "ended with exit code 3".
std::string describe_end(int status);
/// "SIGTERM"; the number where the name is not known.
std::string signal_name(int signal);

} // namespace hpcml::launch
