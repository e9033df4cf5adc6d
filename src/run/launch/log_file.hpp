// SPDX-License-Identifier: MIT
// A file that a rank's output is appended to, and what is known of it once it cannot be written any more.
#pragma once

#include <string>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::launch {

/// Takes raw bytes. When the disk is full it loses them and counts; when there is room again it goes on at
/// the beginning of a line, below one of its own that says that something is missing.
class LogFile {
public:
  LogFile() = default;
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Opens it for appending; makes it where it is not there, and its folder with parents.
  util::Status open(const std::string& path);
  bool is_open() const { return x_fd >= 0; }
  /// Returns what is to be said: at the first loss the file and the error, else nothing.
  std::string write(std::string_view bytes);
  /// Returns what is to be said: how many bytes were lost, nothing if none were.
  std::string close();

private:
  std::size_t put(std::string_view bytes);
  bool leave_gap(std::string_view& bytes);
  std::string lose(std::string_view bytes);

  std::string x_path;
  int x_fd = -1;
  int x_error = 0;        ///< of the last write that failed
  char x_last = '\n';     ///< the last byte that stands in the file, as far as we have written it
  std::size_t x_lost = 0; ///< bytes
  bool x_in_gap = false;
  bool x_inside_line = false; ///< what was lost last ends within a line
  std::string x_mark;         ///< what is left to write of the line that tells of the gap
};

} // namespace hpcml::launch
