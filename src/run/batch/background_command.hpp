// SPDX-License-Identifier: MIT
// A command of Slurm that runs while the batch process does other things.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "core/util/child.hpp"
#include "core/util/env_snapshot.hpp"

namespace hpcml::batch {

class BackgroundCommand {
public:
  using Clock = std::chrono::steady_clock;

  BackgroundCommand() = default;
  ~BackgroundCommand() { stop(); }
  BackgroundCommand(const BackgroundCommand&) = delete;
  BackgroundCommand& operator=(const BackgroundCommand&) = delete;

  /// Starts the command, which is killed at `limit`. False if it cannot be started, or one runs already.
  bool start(const std::vector<std::string>& words, const util::EnvSnapshot& env, std::chrono::seconds limit);
  bool is_running() const { return x_child.is_running(); }
  /// Its standard output, to wait for; -1 if none runs.
  int descriptor() const { return x_child.output(); }
  /// Reads what it has printed so far. Returns everything once it has ended; it is killed if its time is
  /// over.
  std::optional<std::string> take();
  void stop();

private:
  util::ChildProcess x_child;
  Clock::time_point x_deadline;
  std::string x_output;
};

} // namespace hpcml::batch
