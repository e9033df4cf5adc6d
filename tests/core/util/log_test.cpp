// SPDX-License-Identifier: MIT
#include "core/util/log.hpp"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <functional>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "temp_directory.hpp"

using namespace hpcml;

namespace {

/// What `use` writes to standard error, by lines.
std::vector<std::string> lines_of(const std::function<void()>& use) {
  test::TempDirectory directory;
  const auto path = (directory / "stderr").string();
  const int saved = ::dup(STDERR_FILENO);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  ::dup2(file, STDERR_FILENO);
  use();
  ::dup2(saved, STDERR_FILENO);
  ::close(file);
  ::close(saved);
  auto lines = util::split(util::read_file(path).value(), '\n');
  lines.pop_back(); // after the last line break
  return lines;
}

void log_each() {
  util::log_error("e");
  util::log_warning("w");
  util::log_info("i");
  util::log_debug("d");
  util::log_trace("t");
}

} // namespace

TEST_CASE("each line of a message has the prefix") {
  const auto lines = lines_of([] {
    util::log_error(util::Error{"cannot bind", "use --bind none"});
    util::log_info("first\nsecond");
  });
  CHECK(lines == std::vector<std::string>{"hpcml: error: cannot bind", "hpcml: hint: use --bind none",
                                          "hpcml: first", "hpcml: second"});
}

TEST_CASE("a level writes its messages and those before it") {
  const std::vector<std::string> all = {"hpcml: error: e", "hpcml: warning: w", "hpcml: i", "d", "t"};
  std::size_t count = 0;
  for (const auto level : {util::LogLevel::error, util::LogLevel::warning, util::LogLevel::info,
                           util::LogLevel::debug, util::LogLevel::trace}) {
    ++count;
    const auto lines = lines_of([&] {
      util::set_log_level(level);
      log_each();
      util::set_log_level(util::LogLevel::info);
    });
    REQUIRE(lines.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      if (i < 3)
        CHECK(lines[i] == all[i]);
      else
        CHECK_THAT(lines[i], Catch::Matches("hpcml [DT] \\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\d " + all[i]));
    }
  }
}

TEST_CASE("log lines show control characters and braces as text") {
  const auto lines = lines_of([] {
    util::log_info("a\033[2J {} {0}");
    util::write_stderr_line("b\rc");
  });
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "hpcml: a\\x1b[2J {} {0}");
  CHECK(lines[1] == "b\\x0dc");
}

TEST_CASE("log levels have words") {
  CHECK(util::parse_log_level("error") == util::LogLevel::error);
  CHECK(util::parse_log_level("trace") == util::LogLevel::trace);
  for (const auto* word : {"", "Error", "warn", "off", "1"}) CHECK_FALSE(util::parse_log_level(word));
}
