// SPDX-License-Identifier: MIT
// Reading and writing whole files, with errors that name the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/util/result.hpp"

namespace hpcml::util {

/// The whole file as bytes, or the first `most` of them. Works for /proc and /sys, whose files have no size,
/// and for /dev/stdin, whatever it leads to. For files of the system and of hpcml; what a user names is read
/// by read_input.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t most = SIZE_MAX);
/// Reads at most `most` bytes from an open descriptor; `path` names it in errors.
Result<std::string> read_descriptor(int fd, const std::filesystem::path& path, std::size_t most);
/// Replaces the file in one step (a temporary next to it, then rename): a reader sees the old or the new,
/// never half.
Status write_file(const std::filesystem::path& path, std::string_view text, unsigned mode = 0644);
/// What a user names as the place for a result: a new file with what the umask leaves of `mode`, one that
/// exists as rewrite_file does, or a pipe or device, which is written to.
Status write_output(const std::filesystem::path& path, std::string_view text, unsigned mode = 0644);
/// Whether write_output can write there now; makes nothing that stays. For results that come much later.
Status check_output(const std::filesystem::path& path);
/// write_file for a file that exists: it keeps its mode and owner, and a link leads to it as before. Fails on
/// pipes and devices.
Status rewrite_file(const std::filesystem::path& path, std::string_view text);
/// Keeps other processes that lock the same path out until it is destroyed; waits for them. The file is its
/// own and goes with it. Where it cannot be made or locked it holds nothing: better than not to continue.
class FileLock {
public:
  explicit FileLock(const std::filesystem::path& path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

private:
  std::filesystem::path x_path;
  int x_fd = -1;
};

/// Returns the names in a directory, in no order; none if it cannot be read.
std::vector<std::string> list_directory(const std::filesystem::path& path);

/// The path of the running program.
std::filesystem::path own_executable();

} // namespace hpcml::util
