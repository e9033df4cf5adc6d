// SPDX-License-Identifier: MIT
#include "util/file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/trace.hpp"

namespace hpcml::util {

namespace {
Error file_error(const char* doing, const std::filesystem::path& path, int code) {
  return Error{std::string("cannot ") + doing + " " + path.string() + ": " + std::strerror(code)};
}
} // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file_error("read", path, errno);
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int code = errno;
      ::close(fd);
      return file_error("read", path, code);
    }
    if (count == 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(fd);
  return text;
}

Status write_file(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return file_error("write", path, errno);
  std::size_t done = 0;
  bool failed = false;
  while (done < text.size() && !failed) {
    const ssize_t count = ::write(fd, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    failed = count < 0;
    if (!failed) done += static_cast<std::size_t>(count);
  }
  int code = failed ? errno : 0;
  if (!failed && ::fchmod(fd, mode) != 0) code = errno;
  if (::close(fd) != 0 && code == 0) code = errno;
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary.c_str());
    return file_error("write", path, code);
  }
  trace_debug("wrote " + path.string());
  return Done{};
}

std::filesystem::path own_executable() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

} // namespace hpcml::util
