// SPDX-License-Identifier: MIT
// Commands that run while the batch process waits for other events.
#include <catch2/catch.hpp>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <poll.h>
#include <sys/wait.h>

#include "core/util/file.hpp"
#include "run/batch/background_command.hpp"
#include "run/batch/batch_helper.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::batch;

namespace {

const util::EnvSnapshot k_env({{"PATH", "/usr/bin:/bin"}, {"NAME", "value"}});
constexpr std::chrono::seconds k_minute(60);

/// Waits as the batch process does, for at most a minute. How often it must wait depends on the sizes of the
/// command's writes.
std::string take_all(BackgroundCommand& command) {
  const auto deadline = std::chrono::steady_clock::now() + k_minute;
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd wait{command.descriptor(), POLLIN, 0};
    ::poll(&wait, 1, 1000);
    if (const auto output = command.take()) return *output;
  }
  return "it does not end";
}

} // namespace

TEST_CASE("a background command returns what it printed") {
  BackgroundCommand command;
  CHECK_FALSE(command.is_running());
  CHECK(command.descriptor() == -1);
  CHECK_FALSE(command.take());
  REQUIRE(command.start({"sh", "-c", "echo $NAME; echo error >&2; cat; echo \"$1\"", "sh", "a b"}, k_env,
                        k_minute));
  CHECK(command.is_running());
  CHECK(command.descriptor() >= 0);
  CHECK(take_all(command) == "value\na b\n"); // its standard input is empty
  CHECK_FALSE(command.is_running());
  CHECK_FALSE(command.take());
  REQUIRE(command.start({"sh", "-c", "echo second; exit 1"}, k_env, k_minute));
  CHECK(take_all(command) == "second\n");
}

TEST_CASE("a background command does not block its caller") {
  const test::TempDirectory directory;
  BackgroundCommand command;
  const auto gate = (directory / "gate").string();
  REQUIRE(command.start({"sh", "-c", "echo first; until [ -e \"$0\" ]; do sleep 0.01; done; echo last", gate},
                        k_env, k_minute));
  CHECK_FALSE(command.start({"true"}, k_env, k_minute)); // one at a time
  CHECK_FALSE(command.take());
  REQUIRE(util::write_file(gate, ""));
  CHECK(take_all(command) == "first\nlast\n");
}

TEST_CASE("a background command is killed at its limit") {
  const test::TempDirectory directory;
  BackgroundCommand command;
  const auto pids = directory / "pid";
  REQUIRE(command.start({"sh", "-c", "sleep 600 & echo $! > \"$0\"; echo partial; wait", pids.string()},
                        k_env, std::chrono::seconds(0)));
  const auto child = hpcml::testing::read_pid(pids);
  REQUIRE(child > 0);
  CHECK(take_all(command) == "partial\n");
  CHECK(hpcml::testing::has_ended(child)); // with what it has started
}

TEST_CASE("a background command is killed with its object") {
  const test::TempDirectory directory;
  const auto pids = directory / "pid";
  pid_t child = 0;
  {
    BackgroundCommand command;
    REQUIRE(command.start({"sh", "-c", "trap '' TERM; echo $$ > \"$0\"; sleep 600", pids.string()}, k_env,
                          k_minute));
    child = hpcml::testing::read_pid(pids);
    REQUIRE(child > 0);
  }
  CHECK(hpcml::testing::has_ended(child));
  errno = 0;
  CHECK((::waitpid(child, nullptr, WNOHANG) == -1 && errno == ECHILD)); // it was waited for
}

TEST_CASE("a background command that prints without end is killed") {
  BackgroundCommand command;
  REQUIRE(command.start({"yes"}, k_env, k_minute));
  const auto output = take_all(command);
  CHECK(output.size() >= 1U << 20U);
  CHECK(output.size() < 2U << 20U);
}

TEST_CASE("a background command that cannot start is reported") {
  BackgroundCommand command;
  CHECK_FALSE(command.start({"no-such-command"}, k_env, k_minute));
  CHECK_FALSE(command.is_running());
  // Of a file that is no program the end is all that is seen.
  const test::TempDirectory directory;
  const auto program = (directory / "program").string();
  REQUIRE(util::write_file(program,
                           "\x7f"
                           "ELF",
                           0755));
  REQUIRE(command.start({program}, k_env, k_minute));
  CHECK(take_all(command).empty());
}

TEST_CASE("a background command has no blocked signals") {
  sigset_t set, before;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &set, &before);
  BackgroundCommand command;
  REQUIRE(command.start({"grep", "SigBlk", "/proc/self/status"}, k_env, k_minute));
  CHECK(take_all(command) == "SigBlk:\t0000000000000000\n");
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}
