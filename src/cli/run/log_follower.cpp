// SPDX-License-Identifier: MIT
#include "cli/run/log_follower.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hpcml::cli {

// A file that was absent at first, or that has changed since, belongs to the job, even if the clock of a file
// server gives it an earlier time.
bool LogFollower::is_earlier(const Version& version) {
  if (!x_earlier) return false;
  const bool is_first = !x_version;
  if (is_first) x_version = version;
  if (is_first ? version.written < x_earlier->submitted : *x_version == version) {
    if (x_earlier->appends) x_offset = version.size;
    return true;
  }
  x_earlier.reset();
  return false;
}

std::string LogFollower::read_more() {
  // Opened again for each read, because a network file system shows what other nodes wrote at open.
  const int fd = ::open(x_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    x_earlier.reset();
    return {};
  }
  x_found = true;
  struct stat state {};
  if (::fstat(fd, &state) != 0 || !S_ISREG(state.st_mode)) {
    ::close(fd);
    return {};
  }
  const std::chrono::nanoseconds written =
      std::chrono::seconds(state.st_mtim.tv_sec) + std::chrono::nanoseconds(state.st_mtim.tv_nsec);
  if (is_earlier({state.st_ino, static_cast<unsigned long long>(state.st_size), written})) {
    ::close(fd);
    return {};
  }
  if (static_cast<unsigned long long>(state.st_size) < x_offset)
    x_offset = 0; // Slurm starts the log again with the job
  std::string text(1 << 20, '\0');
  ssize_t count = 0;
  do count = ::pread(fd, text.data(), text.size(), static_cast<off_t>(x_offset));
  while (count < 0 && errno == EINTR);
  ::close(fd);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  x_offset += text.size();
  return text;
}

} // namespace hpcml::cli
