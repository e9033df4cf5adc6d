// SPDX-License-Identifier: MIT
#include "run/launch/log_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/own_directory.hpp"

namespace hpcml::launch {

namespace {

std::string describe_write_error(int error) {
  return (error == ENOSPC || error == EDQUOT ? "disk full: " : "") + std::string(std::strerror(error));
}

} // namespace

LogFile::~LogFile() {
  if (x_fd >= 0) ::close(x_fd);
}

util::Status LogFile::open(const std::string& path) {
  const auto fail = [](const util::Error& error) {
    return util::Error{error.what, "set --log-dir to a directory that belongs to you"};
  };
  if (const auto made = util::make_own_directory(std::filesystem::path(path).parent_path()); !made)
    return fail(made.error());
  const auto opened = util::append_own_file(path);
  if (!opened) return fail(opened.error());
  x_path = path;
  x_fd = *opened;
  return util::Success{};
}

/// How many bytes could be written.
std::size_t LogFile::put(std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::write(x_fd, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      x_error = count < 0 ? errno : ENOSPC;
      break;
    }
    done += static_cast<std::size_t>(count);
  }
  if (done > 0) x_last = bytes[done - 1];
  return done;
}

std::string LogFile::lose(std::string_view bytes) {
  const bool first = x_lost == 0;
  x_lost += bytes.size();
  x_inside_line = bytes.back() != '\n';
  if (!x_in_gap) {
    x_in_gap = true;
    x_mark = fmt::format("{}[hpcml: output is missing here: {}]\n", x_last == '\n' ? "" : "\n",
                         describe_write_error(x_error));
  }
  return first ? fmt::format("cannot write the log file {}: {}; the ranks continue without it", x_path,
                             describe_write_error(x_error))
               : "";
}

/// Of `bytes` the lines that can be written again; false where they cannot.
bool LogFile::leave_gap(std::string_view& bytes) {
  if (x_inside_line) {
    const auto end = bytes.find('\n');
    const auto skipped = end == std::string_view::npos ? bytes.size() : end + 1;
    x_lost += skipped;
    bytes.remove_prefix(skipped);
    if (end == std::string_view::npos) return false;
    x_inside_line = false;
    if (bytes.empty()) return false;
  }
  x_mark.erase(0, put(x_mark));
  x_in_gap = !x_mark.empty();
  return !x_in_gap;
}

std::string LogFile::write(std::string_view bytes) {
  if (x_fd < 0 || bytes.empty()) return {};
  if (x_in_gap && !leave_gap(bytes)) return bytes.empty() ? "" : lose(bytes);
  bytes.remove_prefix(put(bytes));
  return bytes.empty() ? "" : lose(bytes);
}

std::string LogFile::close() {
  if (x_fd < 0) return {};
  struct stat found {};
  const bool removed = ::fstat(x_fd, &found) == 0 && found.st_nlink == 0;
  // Some file systems report lost writes only here.
  const int failed = ::close(x_fd) == 0 || errno == EINTR ? 0 : errno;
  x_fd = -1;
  if (x_lost > 0)
    return fmt::format("the log file {} lacks {} bytes of output: {}", x_path, x_lost,
                       describe_write_error(x_error));
  if (removed)
    return fmt::format("the log file {} was removed while ranks were writing to it: its content is lost",
                       x_path);
  return failed == 0
             ? ""
             : fmt::format("the log file {} may be incomplete: {}", x_path, describe_write_error(failed));
}

} // namespace hpcml::launch
