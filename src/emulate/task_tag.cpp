// SPDX-License-Identifier: MIT
// Timer slack as a carrier: fork, vfork and clone copy it, execve keeps it, and another process may read and
// set it. So inheritance is exact at no cost: no call that makes a thread has to be intercepted.
#include "emulate/task_tag.hpp"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace hpcml::emulate {

namespace {
int open_slack(pid_t tid, int flags) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/timerslack_ns", static_cast<int>(tid));
  return ::open(path, flags | O_CLOEXEC);
}
} // namespace

std::optional<unsigned> read_task_tag(pid_t tid) {
  const int fd = open_slack(tid, O_RDONLY);
  if (fd < 0) return std::nullopt;
  char text[32];
  const ssize_t count = ::read(fd, text, sizeof text - 1);
  ::close(fd);
  if (count <= 0) return std::nullopt;
  text[count] = '\0';
  return static_cast<unsigned>(std::strtoul(text, nullptr, 10));
}

bool write_task_tag(pid_t tid, unsigned tag) {
  const int fd = open_slack(tid, O_WRONLY);
  if (fd < 0) return false;
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%u", tag);
  const bool done = ::write(fd, text, static_cast<std::size_t>(length)) == length;
  ::close(fd);
  return done;
}

void set_own_task_tag(unsigned tag) { ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(tag), 0, 0, 0); }

} // namespace hpcml::emulate
