// SPDX-License-Identifier: MIT
#include "run/agent/progress_watch.hpp"

#include <sys/stat.h>

namespace hpcml::agent {

namespace {

/// What changes where a file is touched or written.
std::string file_state(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return {};
  return std::to_string(found.st_mtim.tv_sec) + "." + std::to_string(found.st_mtim.tv_nsec) + "." +
         std::to_string(found.st_size);
}

} // namespace

std::optional<QuietEvent> ProgressWatch::look(const launch::OutputRelay& output) {
  using Clock = std::chrono::steady_clock;
  for (unsigned local = 0; local < x_files.size(); ++local) {
    if (const auto wrote = output.last_written(local)) x_stall.sign_of_life(*wrote);
    auto state = file_state(x_files[local]);
    if (state != x_states[local]) x_stall.sign_of_life(Clock::now());
    x_states[local] = std::move(state);
  }
  if (x_activity != nullptr) x_stall.sign_of_life(x_activity->last());
  return x_stall.look(Clock::now());
}

} // namespace hpcml::agent
