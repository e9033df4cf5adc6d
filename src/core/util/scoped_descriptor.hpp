// SPDX-License-Identifier: MIT
#pragma once
#include <unistd.h>

#include <utility>

namespace hpcml::util {

/// A file descriptor that is closed at the end of its scope; a negative one is not closed.
class ScopedDescriptor {
public:
  explicit ScopedDescriptor(int fd) : x_fd(fd) {}
  ~ScopedDescriptor() {
    if (x_fd >= 0) ::close(x_fd);
  }
  ScopedDescriptor(const ScopedDescriptor&) = delete;
  ScopedDescriptor& operator=(const ScopedDescriptor&) = delete;
  int get() const { return x_fd; }
  /// Leaves the descriptor to the caller.
  int release() { return std::exchange(x_fd, -1); }

private:
  int x_fd;
};

} // namespace hpcml::util
