// SPDX-License-Identifier: MIT
// The error that a rank's program reported: in torch's error file, or in the last lines of its standard
// error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::agent {

/// Of at most 4 KiB and 32 KiB; either may be empty.
struct ReportedError {
  std::string message;   ///< "ValueError: …", of one line or several
  std::string traceback; ///< of Python, without a newline at its end
  std::int64_t at = 0;   ///< seconds since 1970, where the file says when; else 0
};

/// Parses the file that torch's @record writes to TORCHELASTIC_ERROR_FILE
/// (torch/distributed/elastic/multiprocessing/errors/error_handler.py, 2.13): {"message": {"message": …,
/// "extraInfo": {"py_callstack": …, "timestamp": "1764111784"}}}. Other handlers write {"message": TEXT}.
/// Returns nothing for another or an incomplete text.
std::optional<ReportedError> parse_error_file(std::string_view text);
/// Of a regular file of at most 4 MiB; never waits.
std::optional<ReportedError> read_error_file(const std::string& path);

/// Finds the error in the last lines of a program without an error file: Python's last traceback (with or
/// without torch's "[rank0]: " before its lines), its "Fatal Python error", or C++'s uncaught exception.
/// Empty if there is none.
ReportedError find_reported_failure(const std::vector<std::string>& lines);

} // namespace hpcml::agent
