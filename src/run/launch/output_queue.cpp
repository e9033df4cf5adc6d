// SPDX-License-Identifier: MIT
#include "run/launch/output_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

namespace hpcml::launch {

OutputQueue::OutputQueue(System& system, int fd) : x_system(system), x_fd(fd) {
  const int flags = x_system.flags(fd);
  struct stat found {};
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || x_system.fstat(fd, found) != 0) {
    x_kind = Kind::nothing;
    return;
  }
  if (S_ISSOCK(found.st_mode)) x_kind = Kind::socket;
  if (!S_ISFIFO(found.st_mode) && !S_ISCHR(found.st_mode)) return;
  // Opens the pipe or terminal again, so that writing never blocks and shared descriptors keep their
  // flags.
  const int again = x_system.open("/proc/self/fd/" + std::to_string(fd), O_WRONLY | O_NONBLOCK | O_NOCTTY);
  if (again < 0) return;
  x_fd = again;
  x_kind = Kind::own;
}

OutputQueue::~OutputQueue() {
  if (x_kind == Kind::own) x_system.close(x_fd);
}

void OutputQueue::add(const std::string& bytes) {
  if (broken() || x_kind == Kind::nothing) return;
  x_bytes += bytes;
}

void OutputQueue::drop() {
  x_bytes.clear();
  if (x_bytes.capacity() > k_full) x_bytes.shrink_to_fit();
  x_done = 0;
}

void OutputQueue::write_some() {
  // A pipe that poll calls ready has room for the smaller number, so the write does not block where it could.
  constexpr std::size_t k_sure = 4096, k_much = 65536;
  if (empty()) return;
  const char* at = x_bytes.data() + x_done;
  const std::size_t count = std::min(x_kind == Kind::plain ? k_sure : k_much, size());
  const ssize_t written =
      x_kind == Kind::socket ? x_system.send(x_fd, at, count) : x_system.write(x_fd, at, count);
  if (written > 0) x_done += static_cast<std::size_t>(written);
  if (written < 0 && errno != EINTR && errno != EAGAIN) x_error = errno;
  if (broken() || empty()) {
    drop();
  } else if (x_done > k_full / 2) {
    x_bytes.erase(0, x_done);
    x_done = 0;
  }
}

} // namespace hpcml::launch
