// SPDX-License-Identifier: MIT
// The limit of open files, raised while ranks run.
#pragma once

#include "core/util/result.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

/// Restores the limit at its end: ranks that are started later find it unchanged.
class FileLimit {
public:
  explicit FileLimit(System& system) : x_system(system) { x_system.getrlimit(RLIMIT_NOFILE, x_before); }
  ~FileLimit();
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

  /// The limit of this process at the start, for the ranks.
  const rlimit& before() const { return x_before; }
  /// Allows at least `count` files; `ranks` is for the message.
  util::Status raise(rlim_t count, unsigned ranks);

private:
  System& x_system;
  rlimit x_before{};
  bool x_raised = false;
};

} // namespace hpcml::launch
