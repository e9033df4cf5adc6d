// SPDX-License-Identifier: MIT
// Bytes on their way to standard output or error, written as fast as the reader takes them and never blocking
// the loop.
#pragma once

#include <string>

#include "run/launch/system.hpp"

namespace hpcml::launch {

/// The bytes for one descriptor.
class OutputQueue {
public:
  /// Bytes that wait for a slow reader before the ranks have to.
  static constexpr std::size_t k_full = 1U << 20;

  /// Does not change `fd`, which may be shared. If it is closed or not open for writing, the output is
  /// discarded as by /dev/null.
  OutputQueue(System& system, int fd);
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  void add(const std::string& bytes);
  /// Writes what the reader takes at once; call it when poll says that `fd` is ready.
  void write_some();
  int fd() const { return x_fd; }
  bool empty() const { return x_done == x_bytes.size(); }
  std::size_t size() const { return x_bytes.size() - x_done; }
  /// True when the reader is so slow that the ranks should wait for it.
  bool full() const { return size() > x_limit; }
  /// Lets more wait than `k_full`: the ranks are ending, and what they say last should not keep them.
  void set_limit(std::size_t bytes) { x_limit = bytes; }
  void drop();
  /// Returns the errno of the failed write, or 0. The ranks' own writes should then fail as well.
  int error() const { return x_error; }
  bool broken() const { return x_error != 0; }

private:
  enum class Kind { plain, own, socket, nothing };
  System& x_system;
  int x_fd;
  Kind x_kind = Kind::plain;
  std::string x_bytes;
  std::size_t x_done = 0;
  std::size_t x_limit = k_full;
  int x_error = 0;
};

} // namespace hpcml::launch
