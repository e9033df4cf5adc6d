// SPDX-License-Identifier: MIT
#include "core/util/input_file.hpp"

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/scoped_descriptor.hpp"
#include "core/util/text.hpp"

namespace hpcml::util {

namespace {

Error input_error(const std::filesystem::path& path, int code) {
  return Error{fmt::format("cannot read {}: {}", path.string(), std::strerror(code)),
               "check the path and its permissions"};
}

/// The descriptor of this process that the path names.
std::optional<int> find_open_descriptor(const std::filesystem::path& path) {
  const auto text = path.string();
  if (text == "/dev/stdin") return STDIN_FILENO;
  for (const std::string_view directory : {"/dev/fd/", "/proc/self/fd/"})
    if (text.starts_with(directory))
      if (const auto number = parse_unsigned(std::string_view(text).substr(directory.size()));
          number && *number <= INT_MAX)
        return static_cast<int>(*number);
  return std::nullopt;
}

/// True if a process has the pipe open for writing. tee() leaves the contents in the pipe.
bool has_writer(int fd) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return true;
  const ssize_t count = ::tee(fd, ends[1], 1, SPLICE_F_NONBLOCK);
  const bool waits = count < 0 && errno == EAGAIN;
  ::close(ends[0]);
  ::close(ends[1]);
  return count > 0 || waits;
}

bool wait_for_writer(int fd) {
  constexpr int k_rounds = 30, k_round_milliseconds = 100;
  for (int round = 0; round < k_rounds; ++round) {
    pollfd ready{fd, POLLIN, 0};
    if (::poll(&ready, 1, k_round_milliseconds) > 0 || has_writer(fd)) return true;
  }
  return false;
}

bool is_trusted(uid_t owner) { return owner == 0 || owner == ::geteuid(); }

/// Of a link both owners count: it decides which file is read.
Status check_owner(const std::filesystem::path& path, const struct stat& opened, const char* hint) {
  struct stat link {};
  const bool linked = ::lstat(path.c_str(), &link) == 0 && !is_trusted(link.st_uid);
  if (is_trusted(opened.st_uid) && !linked) return Success{};
  return Error{fmt::format("hpcml does not read {}: it belongs to another user (uid {}), not to you or root",
                           path.string(), linked ? link.st_uid : opened.st_uid),
               hint};
}

} // namespace

Result<int> open_input(const std::filesystem::path& path) {
  if (const auto number = find_open_descriptor(path)) {
    const int copy = ::fcntl(*number, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? Result<int>(input_error(path, errno)) : Result<int>(copy);
  }
  ScopedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat found {};
  if (file.get() < 0 || ::fstat(file.get(), &found) != 0) return input_error(path, errno);
  if (S_ISDIR(found.st_mode)) return input_error(path, EISDIR);
  if (S_ISFIFO(found.st_mode) && !wait_for_writer(file.get()))
    return Error{fmt::format("cannot read {}: no process writes to this pipe", path.string()),
                 "run the program that writes to the pipe first, or use a regular file"};
  const int flags = ::fcntl(file.get(), F_GETFL);
  if (flags < 0 || ::fcntl(file.get(), F_SETFL, flags & ~O_NONBLOCK) != 0) return input_error(path, errno);
  return file.release();
}

Result<std::string> read_input_head(const std::filesystem::path& path, std::size_t most) {
  TRY(const int descriptor, open_input(path));
  const ScopedDescriptor file(descriptor);
  return read_descriptor(descriptor, path, most);
}

Result<std::string> read_input(const std::filesystem::path& path, const InputFileRule& rule) {
  struct stat found {};
  // Before it is opened: to open a pipe or a device may have an effect.
  if (rule.regular_only && ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode))
    return Error{fmt::format("cannot read {}: it is not a regular file", path.string()),
                 "use a regular file"};
  TRY(const int descriptor, open_input(path));
  const ScopedDescriptor file(descriptor);
  if (::fstat(descriptor, &found) != 0) return input_error(path, errno);
  if (rule.owner_hint != nullptr) TRY_DONE(check_owner(path, found, rule.owner_hint));
  const auto too_large = [&] {
    return Error{fmt::format("cannot read {}: it exceeds {} MiB (limit)", path.string(), rule.limit >> 20U),
                 "check that this is the intended file"};
  };
  if (S_ISREG(found.st_mode) && found.st_size > 0 && static_cast<std::size_t>(found.st_size) > rule.limit)
    return too_large();
  TRY(auto text, read_descriptor(descriptor, path, rule.limit + 1));
  if (text.size() > rule.limit) return too_large();
  return text;
}

} // namespace hpcml::util
