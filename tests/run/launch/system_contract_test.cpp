// SPDX-License-Identifier: MIT
// What launches rely on in the calls of a system: the same checks of the kernel and of the recorded system.
#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "core/util/process_stat.hpp"
#include "run/launch/recorded_system.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using launch::System;

namespace {

/// Calls `check` with both systems.
template <typename Check> void check_both(const Check& check) {
  RecordedSystem recorded;
  for (System* system : {&System::native(), static_cast<System*>(&recorded)}) {
    INFO((system == &recorded ? "recorded" : "native"));
    check(*system);
  }
}

/// A pipe whose reading end does not block.
struct TestPipe {
  explicit TestPipe(System& used) : system(used) {
    REQUIRE(system.pipe(ends) == 0);
    REQUIRE(system.set_nonblocking(ends[0]) == 0);
  }
  ~TestPipe() {
    for (const int fd : ends)
      if (fd >= 0) system.close(fd);
  }
  void close(std::size_t end) {
    CHECK(system.close(ends[end]) == 0);
    ends[end] = -1;
  }
  /// Returns what one read gives: "EAGAIN", "end" or the text.
  std::string read() {
    char bytes[16];
    const auto count = system.read(ends[0], bytes, sizeof bytes);
    if (count < 0) return errno == EAGAIN ? "EAGAIN" : "error";
    return count == 0 ? "end" : std::string(bytes, static_cast<std::size_t>(count));
  }
  void write(const std::string& text) {
    CHECK(system.write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  System& system;
  int ends[2] = {-1, -1};
};

util::ChildOptions with_own_group() {
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::own;
  return options;
}

int status_of(System& system, pid_t pid) {
  int status = -1;
  CHECK(system.waitpid(pid, &status, 0) == pid);
  return status;
}

} // namespace

TEST_CASE("pipe has no data, then bytes, then an end") {
  check_both([](System& system) {
    TestPipe pipe(system);
    CHECK(pipe.read() == "EAGAIN");
    pipe.write("text");
    CHECK(pipe.read() == "text");
    pipe.write("more");
    pipe.close(1);
    CHECK(pipe.read() == "more");
    CHECK(pipe.read() == "end");
  });
}

TEST_CASE("pipe without a reader rejects bytes") {
  check_both([](System& system) {
    system.set_action(SIGPIPE, SIG_IGN);
    TestPipe pipe(system);
    pipe.close(0);
    CHECK(system.write(pipe.ends[1], "x", 1) == -1);
    CHECK(errno == EPIPE);
    system.set_action(SIGPIPE, SIG_DFL);
  });
}

TEST_CASE("poll returns at its limit and skips negative descriptors") {
  check_both([](System& system) {
    TestPipe pipe(system);
    std::array<pollfd, 2> ends = {{{-1, POLLIN, 0}, {pipe.ends[0], POLLIN, 0}}};
    const auto before = system.now();
    CHECK(system.poll(ends, 20) == 0);
    CHECK(system.now() - before >= std::chrono::milliseconds(19));
    pipe.write("x");
    CHECK(system.poll(ends, 1000) == 1);
    CHECK(ends[0].revents == 0);
    CHECK(ends[1].revents != 0);
    CHECK(system.poll({}, 1) == 0);
  });
}

TEST_CASE("epoll set names readable members until they are closed") {
  check_both([](System& system) {
    TestPipe first(system), second(system);
    const int set = system.epoll_create();
    REQUIRE(set >= 0);
    CHECK(system.epoll_add(set, first.ends[0], 7) == 0);
    CHECK(system.epoll_add(set, second.ends[0], 8) == 0);
    std::array<std::uint64_t, 4> keys{};
    CHECK(system.epoll_ready(set, keys) == 0);
    second.write("x");
    CHECK(system.epoll_ready(set, keys) == 1);
    CHECK(keys[0] == 8);
    std::array<pollfd, 1> end = {{{set, POLLIN, 0}}};
    CHECK(system.poll(end, 0) == 1);
    first.close(1); // its end is to be read
    CHECK(system.epoll_ready(set, keys) == 2);
    first.close(0);
    second.close(0);
    CHECK(system.epoll_ready(set, keys) == 0);
    system.close(set);
  });
}

TEST_CASE("message carries descriptors to a second process") {
  check_both([](System& system) {
    int line[2];
    REQUIRE(system.socketpair(line) == 0);
    TestPipe pipe(system);
    CHECK(system.send_descriptors(line[1], "abc", std::span<const int>(pipe.ends)));
    CHECK(system.send_descriptors(line[1], "def", {}));
    system.close(line[1]);
    std::array<char, 3> text{};
    std::array<int, 2> fds = {-1, -1};
    CHECK(system.receive_descriptors(line[0], text, fds) == 2);
    CHECK(std::string(text.data(), 3) == "abc");
    CHECK(system.write(fds[1], "through", 7) == 7);
    CHECK(pipe.read() == "through");
    pipe.close(1);
    CHECK(pipe.read() == "EAGAIN"); // the copy still writes
    CHECK(system.close(fds[1]) == 0);
    CHECK(pipe.read() == "end");
    CHECK(system.receive_descriptors(line[0], text, fds) == 0);
    CHECK(system.receive_descriptors(line[0], text, fds) == -1);
    system.close(fds[0]);
    system.close(line[0]);
  });
}

TEST_CASE("blocked signals are read once and in their order") {
  check_both([](System& system) {
    sigset_t set, before;
    ::sigemptyset(&set);
    for (const int signal : {SIGUSR1, SIGUSR2, SIGTERM}) ::sigaddset(&set, signal);
    CHECK(system.sigprocmask(SIG_BLOCK, &set, &before) == 0);
    const int fd = system.signalfd(set);
    REQUIRE(fd >= 0);
    for (const int signal : {SIGTERM, SIGUSR1, SIGTERM, SIGUSR2})
      CHECK(system.kill(system.getpid(), signal) == 0);
    signalfd_siginfo info{};
    for (const int expected : {SIGUSR1, SIGUSR2, SIGTERM}) {
      CHECK(system.read(fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info));
      CHECK(static_cast<int>(info.ssi_signo) == expected);
    }
    CHECK(system.read(fd, &info, sizeof info) == -1);
    CHECK(errno == EAGAIN);
    sigset_t term;
    ::sigemptyset(&term);
    ::sigaddset(&term, SIGTERM);
    CHECK(system.sigtimedwait(term, std::chrono::milliseconds(1)) == -1);
    system.kill(system.getpid(), SIGTERM);
    CHECK(system.sigtimedwait(term, std::chrono::milliseconds(1)) == SIGTERM);
    system.close(fd);
    system.sigprocmask(SIG_SETMASK, &before, nullptr);
  });
}

TEST_CASE("group exists until its last process was waited for") {
  check_both([](System& system) {
    const pid_t pid = system.fork(with_own_group(), [] { return 3; });
    REQUIRE(pid > 0);
    CHECK(system.kill(-pid, 0) == 0);
    int status = 0;
    while (system.waitpid(pid, &status, WNOHANG) == 0) system.poll({}, 1);
    CHECK(status == 3 << 8);
    CHECK(system.kill(-pid, 0) == -1);
    CHECK(errno == ESRCH);
    CHECK(system.waitpid(pid, &status, WNOHANG) == -1);
    CHECK(errno == ECHILD);
  });
}

TEST_CASE("process changes its own CPUs and limits, not its parent's") {
  check_both([](System& system) {
    const auto cpus = system.allowed_cpus();
    REQUIRE(cpus);
    rlimit limit{};
    CHECK(system.getrlimit(RLIMIT_NOFILE, limit) == 0);
    const pid_t pid = system.fork({}, [&] {
      const auto first = model::IdSet::of({cpus->first()});
      rlimit changed = limit;
      changed.rlim_cur = 64;
      if (system.set_affinity(first) != 0 || !(*system.allowed_cpus() == first)) return 1;
      if (system.setrlimit(RLIMIT_NOFILE, changed) != 0) return 2;
      return system.getrlimit(RLIMIT_NOFILE, changed) == 0 && changed.rlim_cur == 64 ? 0 : 3;
    });
    CHECK(status_of(system, pid) == 0);
    CHECK(*system.allowed_cpus() == *cpus);
    rlimit after{};
    CHECK(system.getrlimit(RLIMIT_NOFILE, after) == 0);
    CHECK(after.rlim_cur == limit.rlim_cur);
  });
}

TEST_CASE("CPUs outside of the cgroup are rejected") {
  check_both([](System& system) {
    const pid_t pid = system.fork(
        {}, [&] { return system.set_affinity(model::IdSet::of({8000})) == -1 && errno == EINVAL ? 0 : 1; });
    CHECK(status_of(system, pid) == 0);
  });
}

TEST_CASE("proc shows processes with their parents") {
  check_both([](System& system) {
    const auto names = system.list_directory("/proc");
    const auto own = std::to_string(system.getpid());
    CHECK(std::count(names.begin(), names.end(), own) == 1);
    const auto text = system.read_file("/proc/" + own + "/stat");
    REQUIRE(text);
    const auto stat = util::parse_process_stat(*text);
    REQUIRE(stat);
    CHECK(stat->pid == system.getpid());
    CHECK(stat->parent == system.getppid());
    const auto status = system.read_file("/proc/" + own + "/status");
    REQUIRE(status);
    for (const auto* key : {"Name:\t", "State:\t", "SigBlk:\t", "SigCgt:\t", "Cpus_allowed_list:\t"})
      CHECK(status->find(key) != std::string::npos);
    CHECK_FALSE(system.read_file("/proc/" + own + "/nothing"));
    CHECK(system.list_directory("/proc/" + own + "/task").size() == 1);
  });
}
