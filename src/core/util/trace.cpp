// SPDX-License-Identifier: MIT
#include "core/util/trace.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/util/visible.hpp"

namespace hpcml::util {

namespace {
// Made on first use: a rank that traces nothing pays nothing.
spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = spdlog::stderr_logger_st("hpcml");
    made->set_pattern("hpcml %L %H:%M:%S.%e %v");
    return made;
  }();
  return *instance;
}
TraceLevel g_level = TraceLevel::off;
} // namespace

void set_trace(TraceLevel level) {
  g_level = level;
  if (level != TraceLevel::off)
    logger().set_level(level == TraceLevel::debug ? spdlog::level::debug : spdlog::level::info);
}
void trace_info(const std::string& line) {
  if (g_level != TraceLevel::off) logger().info("{}", visible(line));
}
void trace_debug(const std::string& line) {
  if (g_level == TraceLevel::debug) logger().debug("{}", visible(line));
}

} // namespace hpcml::util
