// SPDX-License-Identifier: MIT
// Bytes on their way to standard output or error, written as fast as the reader takes them and never blocking
// the loop.
#pragma once

#include <string>

namespace hpcml::launch {

/// The bytes for one descriptor.
class OutputQueue {
public:
  explicit OutputQueue(int fd) : x_fd(fd) {}
  void add(std::string bytes);
  /// Writes once; call it when poll says that `fd` is ready.
  void write_some();
  /// Writes everything, waiting for the reader.
  void drain();
  int fd() const { return x_fd; }
  bool empty() const { return x_done == x_bytes.size(); }
  /// True when the reader is so slow that the ranks should wait for it.
  bool full() const { return x_bytes.size() - x_done > (1U << 20); }
  /// True when the reader is gone: what the ranks write should fail for them, too.
  bool broken() const { return x_broken; }

private:
  int x_fd;
  std::string x_bytes;
  std::size_t x_done = 0;
  bool x_broken = false;
};

} // namespace hpcml::launch
