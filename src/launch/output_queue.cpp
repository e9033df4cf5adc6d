// SPDX-License-Identifier: MIT
#include "launch/output_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace hpcml::launch {

void OutputQueue::add(std::string bytes) {
  if (x_broken || bytes.empty()) return;
  if (empty()) {
    x_bytes = std::move(bytes);
    x_done = 0;
  } else {
    x_bytes += bytes;
  }
}

void OutputQueue::write_some() {
  // A pipe that poll calls ready has room for at least this much, so the write does not block.
  constexpr std::size_t k_chunk = 4096;
  if (empty()) return;
  const ssize_t count = ::write(x_fd, x_bytes.data() + x_done, std::min(k_chunk, x_bytes.size() - x_done));
  if (count > 0) x_done += static_cast<std::size_t>(count);
  if (count < 0 && errno != EINTR && errno != EAGAIN) x_broken = true;
  if (x_broken || empty()) {
    x_bytes.clear();
    x_done = 0;
  } else if (x_done > (4U << 20)) {
    x_bytes.erase(0, x_done);
    x_done = 0;
  }
}

void OutputQueue::drain() {
  while (!empty()) {
    pollfd ready{x_fd, POLLOUT, 0};
    if (::poll(&ready, 1, -1) > 0) write_some();
  }
}

} // namespace hpcml::launch
