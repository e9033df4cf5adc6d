// SPDX-License-Identifier: MIT
// Messages on standard error while something runs: of the launcher, the agents and the store, and what -v
// shows. A command's own results, errors and findings are printed by cli/print.cpp instead.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hpcml::util {

/// Which messages are written: those of a level and of the levels before it.
enum class LogLevel {
  error,   ///< what ends a rank or a run
  warning, ///< what may do other than the user thinks
  info,    ///< the default
  debug,   ///< -v: each program that is run, each profile that is read
  trace    ///< -vv: their results
};

/// "error", "warning", "info", "debug" or "trace"; nothing for other words.
std::optional<LogLevel> parse_log_level(std::string_view word);
/// The level of this process and of the processes that it forks from now on.
void set_log_level(LogLevel level);
bool is_logged(LogLevel level);

/// Each writes one line. Debug and trace lines begin with "hpcml D" or "hpcml T" and the time of day.
void log_error(const std::string& line);
void log_warning(const std::string& line);
void log_info(const std::string& line);
void log_debug(const std::string& line);
void log_trace(const std::string& line);

/// Writes a line to standard error whatever the level: a record for programs. One write, so that lines of
/// several ranks do not mix; control characters are shown, not sent.
void write_stderr_line(std::string_view line);

} // namespace hpcml::util
