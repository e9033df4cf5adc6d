// SPDX-License-Identifier: MIT
#include "run/agent/run_record.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "core/util/own_directory.hpp"

namespace hpcml::agent {

namespace {

bool ends_within_line(int fd) {
  struct stat found {};
  char last = '\n';
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode) || found.st_size == 0) return false;
  return ::pread(fd, &last, 1, found.st_size - 1) == 1 && last != '\n';
}

util::Error cannot_write(const std::string& path, int error) {
  return {fmt::format("cannot write the run record '{}', so that the run continues without it: {}", path,
                      std::strerror(error)),
          "check the quota, free space and permissions of the log directory"};
}

} // namespace

std::string record_name(unsigned node) { return "record-" + std::to_string(node) + ".jsonl"; }

util::Result<RunRecord> RunRecord::open(const std::string& path) {
  // Opening a pipe without a reader would block.
  const int fd =
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0644);
  if (fd < 0) return cannot_write(path, errno);
  return RunRecord(path, fd, ends_within_line(fd));
}

RunRecord::RunRecord(RunRecord&& other) noexcept
    : x_path(std::move(other.x_path)), x_run(std::move(other.x_run)), x_fd(std::exchange(other.x_fd, -1)),
      x_cut(other.x_cut), x_is_reported(other.x_is_reported), x_start(other.x_start) {}

RunRecord::~RunRecord() {
  if (x_fd >= 0) ::close(x_fd);
}

/// Creates a removed directory again, so that at least later events are recorded.
bool RunRecord::begin_anew() {
  struct stat found {};
  if (::fstat(x_fd, &found) != 0 || found.st_nlink > 0) return false;
  if (!util::make_own_directory(std::filesystem::path(x_path).parent_path())) return false;
  auto fresh = open(x_path);
  if (!fresh) return false;
  std::swap(x_fd, fresh->x_fd);
  x_cut = fresh->x_cut;
  return true;
}

util::Status RunRecord::add(const RecordEvent& event) {
  const bool removed = begin_anew();
  const auto* run = std::get_if<RunStarted>(&event);
  auto written = removed && x_run && run == nullptr ? write_line(*x_run) : util::Status(util::Success{});
  if (run != nullptr) x_run = *run;
  if (auto line = write_line(event); written) written = std::move(line);
  if (removed && written)
    return util::Error{
        fmt::format("the run record '{}' was removed during the run; it continues in a new file", x_path),
        "remove files of the log directory only after the run"};
  return written;
}

util::Status RunRecord::write_line(const RecordEvent& event) {
  const auto now = std::chrono::steady_clock::now();
  auto line = render_event(
      event, {std::chrono::system_clock::now(), std::chrono::duration<double>(now - x_start).count()});
  if (x_cut) line.insert(0, 1, '\n');
  ssize_t count = 0;
  do count = ::write(x_fd, line.data(), line.size());
  while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(line.size())) {
    x_cut = false;
    return util::Success{};
  }
  const int error = count < 0 ? errno : ENOSPC;
  // Of a cut line's own newline alone nothing is left over.
  if (count > 0) x_cut = count > 1 || line[0] != '\n';
  if (std::exchange(x_is_reported, true)) return util::Success{};
  return cannot_write(x_path, error);
}

} // namespace hpcml::agent
