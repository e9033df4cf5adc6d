// SPDX-License-Identifier: MIT
#include "core/util/log.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <fmt/format.h>
#include <spdlog/sinks/sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "core/util/visible.hpp"

namespace hpcml::util {

namespace {

struct Level {
  std::string_view word;
  LogLevel level;
  spdlog::level::level_enum of_spdlog;
};
constexpr std::array<Level, 5> k_levels = {{{"error", LogLevel::error, spdlog::level::err},
                                            {"warning", LogLevel::warning, spdlog::level::warn},
                                            {"info", LogLevel::info, spdlog::level::info},
                                            {"debug", LogLevel::debug, spdlog::level::debug},
                                            {"trace", LogLevel::trace, spdlog::level::trace}}};

LogLevel level_of(spdlog::level::level_enum level) {
  for (const auto& row : k_levels)
    if (row.of_spdlog == level) return row.level;
  return LogLevel::info;
}

/// Without a lock and without a buffer: threads may log at once, and a child may log after fork while another
/// thread of its parent did.
class StderrSink final : public spdlog::sinks::sink {
public:
  void log(const spdlog::details::log_msg& message) override {
    const std::string_view text(message.payload.data(), message.payload.size());
    if (message.level >= spdlog::level::info)
      return write_stderr_line(log_text(level_of(message.level), text));
    const auto since = message.time.time_since_epoch();
    const auto time = std::chrono::system_clock::to_time_t(message.time);
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(since).count() % 1000;
    std::tm local{};
    ::localtime_r(&time, &local);
    write_stderr_line(fmt::format("hpcml {} {:02}:{:02}:{:02}.{:03} {}",
                                  message.level == spdlog::level::debug ? 'D' : 'T', local.tm_hour,
                                  local.tm_min, local.tm_sec, milliseconds, text));
  }
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}
};

std::atomic<LogLevel> g_level{LogLevel::info};

/// Made on first use: a rank that logs nothing pays nothing.
spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("hpcml", std::make_shared<StderrSink>());
    made.set_level(spdlog::level::trace); // g_level decides
    return made;
  }();
  return instance;
}

} // namespace

std::optional<LogLevel> parse_log_level(std::string_view word) {
  for (const auto& row : k_levels)
    if (row.word == word) return row.level;
  return std::nullopt;
}

void set_log_level(LogLevel level) { g_level = level; }
bool is_logged(LogLevel level) { return level <= g_level.load(); }

std::string log_text(LogLevel level, std::string_view text) {
  constexpr std::string_view k_prefix = "hpcml: ";
  std::string lines(k_prefix);
  if (level == LogLevel::error) lines += "error: ";
  if (level == LogLevel::warning) lines += "warning: ";
  for (const char c : text) {
    lines += c;
    if (c == '\n') lines += k_prefix;
  }
  return lines;
}

std::string error_text(const Error& error) {
  return error.hint.empty() ? error.what : fmt::format("{}\nhint: {}", error.what, error.hint);
}

void log_message(LogLevel level, const std::string& text) {
  if (!is_logged(level)) return;
  for (const auto& row : k_levels)
    if (row.level == level) logger().log(row.of_spdlog, spdlog::string_view_t(text.data(), text.size()));
}

void log_error(const Error& error) { log_error(error_text(error)); }
void log_error(const std::string& text) { log_message(LogLevel::error, text); }
void log_warning(const std::string& text) { log_message(LogLevel::warning, text); }
void log_info(const std::string& text) { log_message(LogLevel::info, text); }
void log_debug(const std::string& text) { log_message(LogLevel::debug, text); }
void log_trace(const std::string& text) { log_message(LogLevel::trace, text); }

void write_stderr_line(std::string_view line) { write_line(line, ::write); }

void write_line(std::string_view line, const std::function<ssize_t(int, const void*, std::size_t)>& write) {
  const std::string text = visible(std::string(line)) + "\n";
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t count = write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    done += static_cast<std::size_t>(count);
  }
}

} // namespace hpcml::util
