// SPDX-License-Identifier: MIT
// Files that a user names: opened without waiting for a pipe's writer, and read up to a limit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/util/result.hpp"

namespace hpcml::util {

/// What a reader requires of an input file.
struct InputFileRule {
  std::size_t limit = 0;     ///< largest size in bytes
  bool regular_only = false; ///< pipes, devices and sockets are errors
  const char* owner_hint =
      nullptr; ///< if set, the file must belong to the caller or to root; hint of the error
};

/// Opens a file for reading; the caller closes the descriptor. "/dev/stdin" and "/dev/fd/N" are duplicates of
/// the open descriptor. A named pipe that no process opens for writing within 3 s is an error.
Result<int> open_input(const std::filesystem::path& path);
/// Returns the contents of the file. A file larger than `rule.limit` is an error, also if it has no end.
Result<std::string> read_input(const std::filesystem::path& path, const InputFileRule& rule);
/// Returns at most the first `most` bytes of the file.
Result<std::string> read_input_head(const std::filesystem::path& path, std::size_t most);

} // namespace hpcml::util
