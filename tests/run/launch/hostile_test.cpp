// SPDX-License-Identifier: MIT
// Launch in a world that is against it: closed descriptors, readers that stall, full disks, killed launchers,
// launchers inside launchers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

const std::string k_launch = std::string(HPCML_BINARY) + " launch ";

pid_t number_in(const std::string& path) {
  for (int i = 0; i < 12000; ++i) {
    const auto text = util::read_file(path);
    if (text && text->ends_with("\n")) return std::stoi(*text);
    ::usleep(5000);
  }
  FAIL(path << " is not written");
  return -1;
}

bool is_there(pid_t pid) {
  const auto stat = util::read_file("/proc/" + std::to_string(pid) + "/stat");
  return stat && stat->find(") Z ") == std::string::npos;
}

} // namespace

TEST_CASE("launch with a standard descriptor closed ends as its ranks do, and TERM ends it") {
  for (const auto* closed : {">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"}) {
    CAPTURE(closed);
    CHECK(run_line(k_launch + "--nproc-per-node 2 -- bash -c 'echo hi; echo ho >&2; exit 0' " + closed)
              .exit_code == 0);
    CHECK(run_line(k_launch + "--nproc-per-node 2 -- bash -c 'exit 3' " + closed).exit_code == 3);
    CHECK(run_line("timeout -s TERM 1 " + k_launch + "--nproc-per-node 1 -- sleep 30 " + closed).exit_code ==
          124);
  }
  // What stays open still gets what the ranks write.
  CHECK(run_line(k_launch + "--nproc-per-node 1 -- bash -c 'echo hi; echo ho >&2' 2>&-").out == "[0] hi\n");
}

TEST_CASE("a reader that stalls keeps launch for a bounded time once it is asked to end") {
  Running launch({"launch", "--nproc-per-node", "2", "--", "yes", "0123456789abcdef"}, bare_environment());
  ::usleep(300000); // all pipes are full by then
  const auto start = std::chrono::steady_clock::now();
  launch.signal(SIGTERM);
  CHECK(launch.wait() == 128 + SIGTERM);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(40));
}

TEST_CASE("lines stay whole where the reader is slow, whoever writes them") {
  const std::string rank =
      "'import os, sys\n"
      "stream = sys.stderr if os.environ[\"RANK\"] == \"3\" else sys.stdout\n"
      "for i in range(9000): stream.write(\"%06d %s\\n\" % (i, \"abcdefghij\" * (i % 9)))'";
  const std::string reader = "'import sys, time\n"
                             "for n, line in enumerate(sys.stdin.buffer):\n"
                             "  sys.stdout.buffer.write(line)\n"
                             "  if n % 3000 == 0: time.sleep(0.35)'";
  const auto output =
      run_line(k_launch + "--nproc-per-node 4 -- python3 -c " + rank + " 2>&1 | python3 -c " + reader);
  std::vector<unsigned> next(4, 0);
  std::size_t torn = 0;
  for (const auto& line : util::split(output.out, '\n')) {
    if (line.empty() || line.find("hpcml: warning") != std::string::npos) continue;
    const auto rank_of = line.size() > 4 && line[0] == '[' ? static_cast<std::size_t>(line[1] - '0') : 9;
    if (rank_of > 3) {
      ++torn;
      continue;
    }
    char expected[16];
    std::snprintf(expected, sizeof expected, "%06u ", next[rank_of]);
    std::string text = "[" + std::to_string(rank_of) + "] " + expected;
    for (unsigned i = 0; i < next[rank_of] % 9; ++i) text += "abcdefghij";
    torn += line == text ? 0 : 1;
    ++next[rank_of];
  }
  CHECK(torn == 0);
  CHECK(next == std::vector<unsigned>(4, 9000));
}

TEST_CASE("a signal reaches the program below a rank's shell, which has its time to end") {
  const std::string directory = make_directory();
  // The shell has no trap: it ends at once by the signal, and the program would go with it.
  const std::string program = "import signal, sys, time, os\n"
                              "def save(*_):\n"
                              "  time.sleep(0.4)\n"
                              "  open(\"" +
                              directory +
                              "/saved\" + os.environ[\"RANK\"], \"w\").write(\"yes\")\n"
                              "  os._exit(0)\n"
                              "signal.signal(signal.SIGTERM, save)\n"
                              "print(\"ready\", flush=True)\n"
                              "while True: time.sleep(0.01)\n";
  REQUIRE(util::write_file(directory + "/train.py", program));
  Running launch(
      {"launch", "--nproc-per-node", "2", "--", "bash", "-c", "python3 " + directory + "/train.py; exit $?"},
      bare_environment());
  for (int i = 0; i < 2; ++i) CHECK_THAT(launch.read_line(), Contains("ready"));
  launch.signal(SIGTERM);
  launch.wait();
  for (const auto* rank : {"0", "1"})
    CHECK(util::read_file(directory + "/saved" + rank).value_or("no") == "yes");
  std::filesystem::remove_all(directory);
}

TEST_CASE("nothing of the ranks outlives a launch that is killed, wherever it went") {
  const std::string directory = make_directory();
  Running launch({"launch", "--nproc-per-node", "2", "--", "bash", "-c",
                  "sleep 300 & echo $! > " + directory + "/child$RANK; setsid sleep 301 & echo $! > " +
                      directory + "/session$RANK; (setsid sh -c 'sleep 302 & echo $! > " + directory +
                      "/orphan'$RANK'; exec sleep 303' &); wait"},
                 bare_environment());
  std::vector<pid_t> processes;
  for (const auto* rank : {"0", "1"})
    for (const auto* name : {"child", "session", "orphan"})
      processes.push_back(number_in(directory + "/" + name + rank));
  for (const pid_t pid : processes) CHECK(is_there(pid));
  launch.signal(SIGKILL);
  launch.wait();
  for (const pid_t pid : processes) CHECK(is_lost(pid));
  std::filesystem::remove_all(directory);
}

TEST_CASE("nothing of the ranks outlives a launch whose rank fails") {
  const std::string directory = make_directory();
  // A child in a session of its own, and a daemon whose parent is gone, both deaf to TERM.
  const auto output =
      run_line(k_launch + "--nproc-per-node 2 -- bash -c 'trap \"\" TERM; setsid sleep 301 & echo $! > " +
               directory + "/session$RANK; (setsid sh -c \"sleep 302 & echo \\$! > " + directory +
               "/daemon$RANK; wait\" > /dev/null 2>&1 &); for rank in 0 1; do until [ -s " + directory +
               "/daemon$rank ]; do sleep 0.02; done; done; trap - TERM; [ $RANK = 1 ] && exit 3; "
               "exec sleep 300'");
  CHECK(output.exit_code == 3);
  for (const auto* rank : {"0", "1"})
    for (const auto* name : {"session", "daemon"}) {
      const pid_t pid = number_in(directory + "/" + name + rank);
      CAPTURE(name, rank);
      CHECK_FALSE(is_there(pid));
      if (is_there(pid)) ::kill(pid, SIGKILL);
    }
  std::filesystem::remove_all(directory);
}

TEST_CASE("a launch that was asked to end ends by the signal, so that srun keeps the code of the rank that "
          "failed") {
  // Python tells a signal (-N) from a code.
  const auto output = run_line("python3 -c 'import subprocess, time, signal\n"
                               "p = subprocess.Popen([\"" +
                               std::string(HPCML_BINARY) +
                               "\", \"launch\", \"--nproc-per-node\", \"2\", \"--\", \"sleep\", \"30\"])\n"
                               "time.sleep(0.7); p.send_signal(signal.SIGTERM); print(p.wait())'");
  CHECK(output.out == "-" + std::to_string(SIGTERM) + "\n");
}
