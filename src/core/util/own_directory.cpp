// SPDX-License-Identifier: MIT
#include "core/util/own_directory.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace hpcml::util {

namespace {

constexpr int k_directory = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Error directory_error(const char* action, const std::filesystem::path& path, int code) {
  return Error{fmt::format("cannot {} directory {}: {}", action, path.string(), std::strerror(code)),
               "check its permissions and those of its parents, or use another directory"};
}

/// A descriptor of a directory that belongs to the caller.
Result<int> open_own_directory(const std::filesystem::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) == 0 && S_ISLNK(found.st_mode))
    return Error{fmt::format("cannot use {}: it is a symbolic link, not a directory", path.string()),
                 "remove the link, or use another directory"};
  const int fd = ::open(path.c_str(), k_directory);
  if (fd < 0) return directory_error("open", path, errno);
  if (::fstat(fd, &found) == 0 && found.st_uid == ::geteuid()) return fd;
  ::close(fd);
  return Error{fmt::format("cannot use directory {}: it belongs to another user (uid {})", path.string(),
                           found.st_uid),
               "use a directory that belongs to you"};
}

} // namespace

Status make_own_directory(const std::filesystem::path& path) {
  constexpr mode_t k_for_caller = 0700;
  std::error_code error;
  const auto parent = path.parent_path();
  if (!parent.empty() && !std::filesystem::is_directory(parent, error)) {
    std::filesystem::create_directories(parent, error);
    if (error) return directory_error("create", path, error.value());
  }
  if (::mkdir(path.c_str(), k_for_caller) == 0) return Success{};
  if (errno != EEXIST) return directory_error("create", path, errno);
  TRY(const int fd, open_own_directory(path));
  ::close(fd);
  return Success{};
}

Result<int> append_own_file(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  TRY(const int directory, open_own_directory(parent.empty() ? "." : parent));
  const int fd =
      ::openat(directory, path.filename().c_str(),
               O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0666);
  const int code = errno;
  ::close(directory);
  if (fd >= 0) return fd;
  if (code == ELOOP)
    return Error{fmt::format("cannot write to {}: it is a symbolic link", path.string()),
                 "remove the link, or use another directory"};
  return Error{fmt::format("cannot open {} for writing: {}", path.string(), std::strerror(code)),
               "check its permissions, or use another directory"};
}

} // namespace hpcml::util
