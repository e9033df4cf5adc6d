// SPDX-License-Identifier: MIT
// A file that a rank's output is appended to, which reports what is lost if it cannot be written.
#pragma once

#include <string>
#include <string_view>

#include "core/util/result.hpp"

namespace hpcml::launch {

/// Appends bytes. When the disk is full it counts lost bytes. When there is space again it continues at the
/// start of a line, after a line that reports the gap.
class LogFile {
public:
  LogFile() = default;
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Opens the file for appending; creates it and its directories if they do not exist.
  util::Status open(const std::string& path);
  bool is_open() const { return x_fd >= 0; }
  /// Returns a message at the first loss, else an empty text.
  std::string write(std::string_view bytes);
  /// Returns a message about lost bytes, if there are any.
  std::string close();

private:
  std::size_t put(std::string_view bytes);
  bool leave_gap(std::string_view& bytes);
  std::string lose(std::string_view bytes);

  std::string x_path;
  int x_fd = -1;
  int x_error = 0;        ///< of the last write that failed
  char x_last = '\n';     ///< last byte that was written
  std::size_t x_lost = 0; ///< bytes
  bool x_in_gap = false;
  bool x_inside_line = false; ///< the last lost byte is inside a line
  std::string x_mark;         ///< unwritten rest of the line that reports the gap
};

} // namespace hpcml::launch
