// SPDX-License-Identifier: MIT
// A small process that outlives a launch that is killed, and takes the ranks' processes along.
#pragma once

#include <cstddef>
#include <string>
#include <sys/types.h>

#include "core/util/result.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// A process that is started before the first rank. If launch is killed or crashes, it kills the ranks'
/// process groups and each process with this launch's mark in its environment.
class OrphanReaper {
public:
  /// `count`: ranks that will be named to it.
  OrphanReaper(System& system, std::size_t count);
  ~OrphanReaper();
  OrphanReaper(const OrphanReaper&) = delete;
  OrphanReaper& operator=(const OrphanReaper&) = delete;

  /// Sets a directory that is removed as well if launch is killed; called before the start.
  void remove_on_exit(std::string directory) { x_directory = std::move(directory); }
  util::Status start();
  /// Sets the process group of a rank; 0 once the group has ended, because the kernel may reuse its
  /// number.
  void set_group(std::size_t index, pid_t group);
  /// The value of `k_launch_variable` for the ranks.
  const std::string& mark() const { return x_mark; }
  pid_t pid() const { return x_pid; }

private:
  System& x_system;
  std::size_t x_count;
  volatile pid_t* x_groups = nullptr; ///< shared with the process
  int x_line = -1;                    ///< it reads the other end
  pid_t x_pid = -1;
  std::string x_mark, x_directory;
};

} // namespace hpcml::launch
