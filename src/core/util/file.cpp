// SPDX-License-Identifier: MIT
#include "core/util/file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/log.hpp"

namespace hpcml::util {

namespace {
Error file_error(const char* doing, const std::filesystem::path& path, int code) {
  return Error{fmt::format("cannot {} {}: {}", doing, path.string(), std::strerror(code)),
               "check the path, its permissions and the free space"};
}

/// 0, or the errno of the write that failed.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

Status write_stream(const std::filesystem::path& path, std::string_view text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (fd < 0) return file_error("write", path, errno);
  int code = write_all(fd, text);
  if (::close(fd) != 0 && code == 0) code = errno;
  if (code != 0) return file_error("write", path, code);
  return Success{};
}

/// A new file in the place of a pipe or device would end it for everyone; what /dev/stdout leads to is open
/// in the shell.
bool is_stream(const std::filesystem::path& path, const struct stat& target_status) {
  const auto text = path.string();
  return !S_ISREG(target_status.st_mode) || text.starts_with("/dev/") || text.starts_with("/proc/");
}

/// What a link leads to, also where that does not exist yet.
std::filesystem::path end_of_links(std::filesystem::path path) {
  std::error_code error;
  for (int links = 0; links < 40 && std::filesystem::is_symlink(path, error); ++links) {
    const auto next = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = next.is_absolute() ? next : path.parent_path() / next;
  }
  return path;
}

/// A temporary next to the file takes its name; `owner`: whose it shall be, where that is not the writer.
Status replace_file(const std::filesystem::path& path, std::string_view text, unsigned mode,
                    const struct stat* owner) {
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return file_error("write", path, errno);
  int code = write_all(fd, text);
  struct stat own {};
  if (code == 0 && owner != nullptr && ::fstat(fd, &own) == 0 &&
      (own.st_uid != owner->st_uid || own.st_gid != owner->st_gid) &&
      ::fchown(fd, owner->st_uid, owner->st_gid) != 0)
    code = errno;
  if (code == 0 && ::fchmod(fd, mode) != 0) code = errno;
  if (::close(fd) != 0 && code == 0) code = errno;
  if (code == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code != 0) {
    ::unlink(temporary.c_str());
    return file_error("write", path, code);
  }
  log_trace(fmt::format("wrote {}", path.string()));
  return Success{};
}

/// Returns a mode without the bits of the process's umask, which is read from /proc: the system call would
/// change it for a moment, also for other threads.
unsigned left_by_umask(unsigned mode) {
  constexpr std::string_view k_name = "\nUmask:\t";
  constexpr unsigned k_usual = 022;
  const auto status = read_file("/proc/self/status");
  const auto at = status ? status->find(k_name) : std::string::npos;
  const auto mask =
      at == std::string::npos ? k_usual : std::strtoul(status->c_str() + at + k_name.size(), nullptr, 8);
  return mode & ~static_cast<unsigned>(mask);
}
} // namespace

Result<std::string> read_descriptor(int fd, const std::filesystem::path& path, std::size_t most) {
  std::string text;
  char buffer[65536];
  while (text.size() < most) {
    const ssize_t count = ::read(fd, buffer, std::min(sizeof buffer, most - text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return file_error("read", path, errno);
    if (count == 0) break;
    text.append(buffer, static_cast<std::size_t>(count));
  }
  return text;
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t most) {
  // Opened again, standard input fails where it is a socket or another user's pipe.
  const int fd = path == "/dev/stdin" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file_error("read", path, errno);
  auto text = read_descriptor(fd, path, most);
  ::close(fd);
  return text;
}

Status write_file(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  return replace_file(path, text, mode, nullptr);
}

Status rewrite_file(const std::filesystem::path& path, std::string_view text) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return file_error("write", path, errno);
  const std::filesystem::path target = resolved;
  ::free(resolved);
  struct stat old {};
  if (::stat(target.c_str(), &old) != 0) return file_error("write", path, errno);
  if (!S_ISREG(old.st_mode))
    return Error{fmt::format("cannot rewrite {}: it is not a regular file", path.string()),
                 "use a regular file"};
  if (::access(target.c_str(), W_OK) != 0)
    return file_error("write", path, errno); // the directory may allow what the file's mode forbids
  return replace_file(target, text, old.st_mode & 07777U, &old);
}

Status write_output(const std::filesystem::path& path, std::string_view text, unsigned mode) {
  struct stat old {};
  if (::stat(path.c_str(), &old) != 0) return write_file(end_of_links(path), text, left_by_umask(mode));
  return is_stream(path, old) ? write_stream(path, text) : rewrite_file(path, text);
}

Status check_output(const std::filesystem::path& path) {
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return file_error("write", path, errno);
  if (exists && S_ISDIR(old.st_mode)) return file_error("write", path, EISDIR);
  if (exists && ::access(path.c_str(), W_OK) != 0) return file_error("write", path, errno);
  if (exists && is_stream(path, old)) return Success{};
  // It is replaced by a file that is written next to it; whether that can be created, only creating it shows.
  std::string temporary = end_of_links(path).string() + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return file_error("write", path, errno);
  ::close(fd);
  ::unlink(temporary.c_str());
  return Success{};
}

FileLock::FileLock(const std::filesystem::path& path) : x_path(path) {
  for (;;) {
    x_fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (x_fd < 0) return;
    int failed = 0;
    while ((failed = ::flock(x_fd, LOCK_EX)) != 0 && errno == EINTR) {
    }
    struct stat own {
    }, on_path{};
    if (failed != 0 || ::fstat(x_fd, &own) != 0) return;
    // Who held it has removed it: another process may lock the next one already.
    if (::stat(path.c_str(), &on_path) == 0 && on_path.st_ino == own.st_ino && on_path.st_dev == own.st_dev)
      return;
    ::close(x_fd);
  }
}

FileLock::~FileLock() {
  if (x_fd < 0) return;
  ::unlink(x_path.c_str());
  ::close(x_fd);
}

std::vector<std::string> list_directory(const std::filesystem::path& path) {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(path, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  return names;
}

std::filesystem::path own_executable() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored);
}

} // namespace hpcml::util
