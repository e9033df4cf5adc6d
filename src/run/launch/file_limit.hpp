// SPDX-License-Identifier: MIT
// The limit of open files, raised while ranks run.
#pragma once

#include <sys/resource.h>

#include "core/util/result.hpp"

namespace hpcml::launch {

/// Restores the limit at its end: ranks that are started later find it unchanged.
class FileLimit {
public:
  FileLimit() { ::getrlimit(RLIMIT_NOFILE, &x_before); }
  ~FileLimit();
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

  /// The limit of this process at the start, for the ranks.
  const rlimit& before() const { return x_before; }
  /// Allows at least `count` files; `ranks` is for the message.
  util::Status raise(rlim_t count, unsigned ranks);

private:
  rlimit x_before{};
  bool x_raised = false;
};

} // namespace hpcml::launch
