// SPDX-License-Identifier: MIT
#include "core/util/kernel_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace hpcml::util {

Status write_kernel_file(const std::filesystem::path& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool done = fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  if (fd >= 0) ::close(fd);
  errno = why;
  if (done) return Success{};
  return Error{fmt::format("cannot write \"{}\" to the kernel's file {}: {}", text, path.string(),
                           std::strerror(why))};
}

} // namespace hpcml::util
