// SPDX-License-Identifier: MIT
// Ranks with output wishes, started by launch's own classes in a process of its own.
#pragma once

#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/util/process.hpp"
#include "run/launch/rank_observer.hpp"
#include "run/resolve/output_options.hpp"

namespace hpcml::testing {

/// Ranks that are to be started.
struct RanksToStart {
  launch::OutputOptions output_options;
  unsigned count = 1;
  std::vector<std::string> command;
  std::function<void()> before = {};        ///< in the process that starts them, before it does
  std::function<void()> after = {};         ///< there, when all have ended
  launch::RankObserver* overseer = nullptr; ///< there
};

/// A process that runs them, and the reading ends of its standard output and error.
struct StartedRanks {
  pid_t pid = -1;
  int out = -1;
  int err = -1;
};

StartedRanks start_ranks(const RanksToStart& ranks);
/// Reads to the ends and waits; closes both. An end that is -1 is not read.
util::ProcessOutput finish_ranks(StartedRanks launch);
/// Both.
util::ProcessOutput run_ranks(const RanksToStart& ranks);
/// `sh -c SCRIPT`.
std::vector<std::string> in_shell(const std::string& script);

} // namespace hpcml::testing
