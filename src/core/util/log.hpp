// SPDX-License-Identifier: MIT
// Messages on standard error while something runs: those of the launcher, the agents and the store, and the
// details that -v adds. A command's own results, errors and findings are printed by cli/print.cpp instead.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "core/util/result.hpp"

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

/// Returns a message as it is written to a log: "hpcml: error: TEXT", "hpcml: warning: TEXT" or "hpcml:
/// TEXT". Further lines of the text start with "hpcml: ".
std::string log_text(LogLevel level, std::string_view text);

/// Returns an error as a text of two lines: what happened, then "hint: " and what to do, if that is known.
std::string error_text(const Error& error);

/// Writes a message by log_text if its level is logged.
void log_message(LogLevel level, const std::string& text);

/// Each writes a message of its level. Debug and trace lines start with "hpcml D" or "hpcml T" and the time
/// of day.
void log_error(const std::string& text);
void log_error(const Error& error);
void log_warning(const std::string& text);
void log_info(const std::string& text);
void log_debug(const std::string& text);
void log_trace(const std::string& text);

/// Writes a line to standard error at every level. It is one write, so that lines of several ranks do not
/// mix. Control characters are escaped.
void write_stderr_line(std::string_view line);
/// The same by another `write` than the system call.
void write_line(std::string_view line, const std::function<ssize_t(int, const void*, std::size_t)>& write);

} // namespace hpcml::util
