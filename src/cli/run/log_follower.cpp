// SPDX-License-Identifier: MIT
#include "cli/run/log_follower.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hpcml::cli {

std::string LogFollower::read_more() {
  // Opened anew each time: a network file system shows what other nodes wrote at open.
  const int fd = ::open(x_path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  x_found = true;
  struct stat state {};
  if (::fstat(fd, &state) != 0 || !S_ISREG(state.st_mode)) {
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
