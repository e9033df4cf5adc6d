// SPDX-License-Identifier: MIT
// How ranks come to be: whose children they are, what they inherit, what becomes of them where the start ends
// half-way.
#include <catch2/catch.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// The processes that have the variable in their environment.
std::size_t count_marked(const std::string& entry) {
  std::size_t count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const auto name = process.path().filename().string();
    if (!util::parse_unsigned(name)) continue;
    const auto environment = util::read_file("/proc/" + name + "/environ");
    if (environment && environment->find(entry) != std::string::npos) ++count;
  }
  return count;
}

/// The children of a process, with their process groups.
std::map<pid_t, pid_t> children_of(pid_t process) {
  std::map<pid_t, pid_t> group_of;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (!util::parse_unsigned(name)) continue;
    const auto text = util::read_file("/proc/" + name + "/stat").value_or("");
    long parent = 0, group = 0;
    const auto end = text.rfind(')');
    if (end == std::string::npos || std::sscanf(text.c_str() + end + 4, "%ld %ld", &parent, &group) != 2)
      continue;
    if (parent == process) group_of[static_cast<pid_t>(std::stol(name))] = static_cast<pid_t>(group);
  }
  return group_of;
}

/// The process that starts the `ranks` of a launch, its second child, in launch's own process group: stopped
/// when it has started some of them and not all. 0 where it was too fast.
pid_t stop_starter(pid_t launch, std::size_t ranks) {
  for (int i = 0; i < 20000; ++i) {
    const auto some = children_of(launch);
    if (some.size() < 12) continue;
    const auto second = std::next(some.begin());
    if (second->second != ::getpgid(launch)) return 0;
    ::kill(second->first, SIGSTOP);
    ::usleep(2000);
    if (children_of(launch).size() < ranks) return second->first;
    ::kill(second->first, SIGCONT);
    return 0;
  }
  return 0;
}

/// Ends the processes that sleep for so long; how many there were.
std::size_t end_sleepers(const std::string& seconds) {
  std::size_t count = 0;
  for (const auto& process : std::filesystem::directory_iterator("/proc")) {
    const auto words = util::read_file(process.path().string() + "/cmdline");
    if (!words || words->find(std::string("sleep\0", 6) + seconds) == std::string::npos) continue;
    ++count;
    ::kill(static_cast<pid_t>(std::stol(process.path().filename().string())), SIGKILL);
  }
  return count;
}

/// Starts ranks that each start two that forget launch's mark and group, spoils the start of them half-way,
/// and says what launch said. Nothing of them is left.
std::string spoil_start(void (*spoil)(pid_t launch, pid_t starter)) {
  const std::string directory = make_directory();
  std::string output;
  pid_t starter = 0;
  for (int turn = 0; turn < 30 && starter == 0; ++turn) {
    const std::string name = std::to_string(70 + turn) + std::to_string(::getpid());
    REQUIRE(util::write_file(directory + "/rank.sh", "env -i /bin/sleep " + name +
                                                         " &\nsetsid env -i /bin/sleep " + name +
                                                         " &\nexec sleep " + name + "\n"));
    Running launch({"launch", "--nproc-per-node", "300", "--", "sh", directory + "/rank.sh"},
                   bare_environment(), true);
    starter = stop_starter(launch.pid(), 300);
    if (starter != 0)
      spoil(launch.pid(), starter);
    else
      launch.signal(SIGKILL); // it was too fast: once more
    for (auto line = launch.read_line(); !line.empty(); line = launch.read_line()) output += line + "\n";
    const int code = launch.wait();
    const auto left = end_sleepers(name);
    if (starter == 0) continue;
    CHECK(code == 125);
    CHECK(left == 0);
  }
  CHECK(starter != 0);
  std::filesystem::remove_all(directory);
  return output;
}

} // namespace

TEST_CASE("a rank has the descriptors that a program has without launch, and none of other ranks") {
  const std::vector<std::string> command = {"bash", "-c", "fds=(/proc/$$/fd/*); echo ${fds[@]##*/}"};
  const auto alone = util::run_process(command, bare_environment(), std::chrono::seconds(300));
  REQUIRE(alone);
  std::vector<std::string> words = {"launch", "--nproc-per-node", "24", "--"};
  words.insert(words.end(), command.begin(), command.end());
  const auto output = run_hpcml(words, bare_environment());
  CHECK(output.exit_code == 0);
  auto lines = util::split(output.out, '\n');
  lines.pop_back();
  REQUIRE(lines.size() == 24);
  for (const auto& line : lines) CHECK(line.substr(line.find(' ') + 1) + "\n" == alone->out);
}

TEST_CASE("ranks are children of launch, which has no others but the one that watches over it") {
  const auto output =
      run_hpcml({"launch", "--nproc-per-node", "3", "--", "bash", "-c",
                 "for i in {1..400}; do read -ra all </proc/$PPID/task/$PPID/children; "
                 "[ ${#all[@]} = 4 ] && break; sleep 0.02; done; echo $PPID ${#all[@]}; sleep 1"},
                bare_environment());
  auto lines = util::split(output.out, '\n');
  lines.pop_back();
  REQUIRE(lines.size() == 3);
  for (const auto& line : lines) {
    CHECK_THAT(line, Catch::Matches("\\[[0-2]\\] [0-9]+ 4"));
    CHECK(line.substr(4) == lines.front().substr(4));
  }
}

TEST_CASE("a launch that is killed while it starts its ranks leaves none") {
  for (const unsigned microseconds : {2000U, 10000U, 30000U, 60000U, 120000U}) {
    CAPTURE(microseconds);
    auto env = bare_environment();
    const std::string value = std::to_string(::getpid()) + "-" + std::to_string(microseconds);
    env.set("HPCML_TEST_START", value);
    Running launch({"launch", "--nproc-per-node", "150", "--", "sleep", "100"}, env);
    ::usleep(microseconds);
    launch.signal(SIGKILL);
    CHECK(launch.wait() == 128 + SIGKILL);
    std::size_t left = 1;
    for (int i = 0; i < 6000 && left > 0; ++i) {
      left = count_marked("HPCML_TEST_START=" + value);
      if (left > 0) ::usleep(10000);
    }
    CHECK(left == 0);
  }
}

TEST_CASE("nothing runs on where the process that starts the ranks is killed half-way") {
  CHECK_THAT(spoil_start([](pid_t, pid_t starter) { ::kill(starter, SIGKILL); }),
             Contains("the process that starts the ranks exited"));
}

TEST_CASE("nothing runs on where launch finds no descriptor for a rank's output half-way") {
  CHECK_THAT(spoil_start([](pid_t launch, pid_t starter) {
               const rlimit few{40, 40};
               ::prlimit(launch, RLIMIT_NOFILE, &few, nullptr);
               ::kill(starter, SIGCONT);
             }),
             Contains("cannot create a pipe for the output of a rank: Too many open files"));
}
