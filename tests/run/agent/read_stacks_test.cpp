// SPDX-License-Identifier: MIT
// Where real processes stand still is found by what the kernel says and by the tools that there are, in a
// bounded time.
#include "core/util/process_stat.hpp"
#include "run/agent/read_stacks.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <functional>
#include <poll.h>
#include <semaphore.h>
#include <set>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "holds.hpp"
#include "run/agent/process_states.hpp"
#include "run/agent/syscall_names.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using test::holds;

namespace {

/// A process that does one thing until the test is over.
class Waiting {
public:
  explicit Waiting(const std::function<void()>& body) : x_pid(::fork()) {
    if (x_pid != 0) return;
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    ::_exit(0);
  }
  ~Waiting() {
    ::kill(-x_pid, SIGKILL);
    ::kill(x_pid, SIGKILL);
    ::waitpid(x_pid, nullptr, 0);
  }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  pid_t pid() const { return x_pid; }

private:
  pid_t x_pid;
};

[[noreturn]] void become(std::vector<std::string> words) {
  auto list = util::exec_pointers(words);
  ::execvp(list[0], list.data());
  ::_exit(127);
}

bool becomes_true(const std::function<bool()>& condition) {
  for (int i = 0; i < 3000; ++i) {
    if (condition()) return true;
    ::usleep(10000);
  }
  return false;
}

std::vector<ProcessState> tree_of(pid_t pid) { return read_process_tree(pid, read_children()); }

/// Whether a thread of the process comes to wait in one of these calls.
bool comes_to(pid_t pid, const std::set<std::string>& calls) {
  return becomes_true([&] {
    for (const auto& process : tree_of(pid))
      for (const auto& thread : process.threads)
        if (calls.count(thread.syscall) == 1 && thread.state == 'S') return true;
    return false;
  });
}

/// Some sandboxes have no such file, or hide it.
bool calls_can_be_read() {
  const Waiting child([] { ::pause(); });
  const bool can = becomes_true([&] {
                     const auto tree = tree_of(child.pid());
                     return !tree.empty() && !tree[0].threads.empty() && tree[0].threads[0].state == 'S';
                   }) &&
                   !tree_of(child.pid())[0].threads[0].syscall.empty();
  if (!can) test::skip("the kernel does not show the system calls of other processes");
  return can;
}

/// Only these programs are found: none of the machine's own.
util::EnvSnapshot path_of(const test::TempDirectory& directory) {
  util::EnvSnapshot env;
  env.set("PATH", directory.path().string());
  return env;
}

void put_program(const test::TempDirectory& directory, const std::string& name, const std::string& text) {
  REQUIRE(util::write_file(directory / name, "#!/bin/sh\n" + text, 0755));
}

} // namespace

TEST_CASE("the names of system calls are those of this machine") {
  CHECK(syscall_name(SYS_read) == "read");
  CHECK(syscall_name(SYS_futex) == "futex");
  CHECK(syscall_name(SYS_recvfrom) == "recvfrom");
  CHECK(syscall_name(SYS_ppoll) == "ppoll");
  CHECK(syscall_name(SYS_epoll_pwait) == "epoll_pwait");
  CHECK(syscall_name(SYS_wait4) == "wait4");
  CHECK(syscall_name(SYS_waitid) == "waitid");
  CHECK(syscall_name(SYS_clock_nanosleep) == "clock_nanosleep");
  CHECK(syscall_name(SYS_ioctl) == "ioctl");
  CHECK(syscall_name(SYS_statx) == "statx");
  CHECK(syscall_name(SYS_io_getevents) == "io_getevents");
  CHECK(syscall_name(SYS_restart_syscall) == "restart_syscall");
  CHECK(syscall_name(232, SyscallArchitecture::x86_64) == "epoll_wait");
  CHECK(syscall_name(98, SyscallArchitecture::aarch64) == "futex");
  CHECK(syscall_name(-1) == "system call -1");
  CHECK(syscall_name(0, SyscallArchitecture::other) == "system call 0");
}

TEST_CASE("the kernel's files about a thread are read as it writes them") {
  const auto stat = util::parse_process_stat("42 (a) (b c)) S 7 42 42 0 -1");
  REQUIRE(stat);
  CHECK(stat->pid == 42);
  CHECK(stat->name == "a) (b c)");
  CHECK(stat->state == 'S');
  CHECK(stat->parent == 7);
  for (const auto* text : {"", "42", "42 (a", "42 (a) ", "x (a) S 7", ") ("})
    CHECK_FALSE(util::parse_process_stat(text));
  CHECK(parse_syscall(std::to_string(SYS_futex) + " 0x55 0x189 0x0\n") == "futex");
  CHECK(parse_syscall("running\n").empty());
  CHECK(parse_syscall("-1 0x7ffd 0x7fe4\n").empty());
  CHECK(parse_kernel_stack("[<0>] futex_do_wait+0x46/0x90\n[<0>] x [nvidia]\nnonsense\n") ==
        std::vector<std::string>{"futex_do_wait", "x [nvidia]"});
  ThreadState thread{
      .tid = 1, .name = "a", .state = 'D', .syscall = "read", .wait_channel = "cl_sync_io_wait"};
  CHECK(render_state(thread) == "waits for a device or a file system in read (cl_sync_io_wait)");
}

TEST_CASE("processes that wait in poll, recv, a lock and for a child say so") {
  if (!calls_can_be_read()) return;
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const Waiting in_poll([&] {
    pollfd waiting{ends[0], POLLIN, 0};
    ::poll(&waiting, 1, -1);
  });
  const Waiting in_recv([&] {
    char byte;
    ::recv(ends[0], &byte, 1, 0);
  });
  const Waiting in_lock([] {
    std::thread([] { ::pause(); }).detach();
    sem_t never;
    ::sem_init(&never, 0, 0);
    ::sem_wait(&never);
  });
  CHECK(comes_to(in_poll.pid(), {"poll", "ppoll"}));
  CHECK(comes_to(in_recv.pid(), {"recvfrom"}));
  CHECK(comes_to(in_lock.pid(), {"futex"}));
  CHECK(comes_to(in_lock.pid(), {"pause", "ppoll"})); // its second thread
  const test::TempDirectory none;
  const auto stacks = read_stacks({{5, in_recv.pid()}, {6, in_lock.pid()}, {7, 0}}, path_of(none), {});
  REQUIRE(stacks.size() == 3);
  CHECK(stacks[0].rank == 5);
  const auto place = place_of(stacks[0], "n");
  CHECK(place.state.starts_with("sleeps in recvfrom"));
  CHECK(holds(stacks[0].remarks.at(0), "neither py-spy nor gdb"));
  REQUIRE(stacks[1].processes.size() == 1);
  CHECK(stacks[1].processes[0].threads.size() == 2);
  CHECK(place_of(stacks[1], "n").state.starts_with("sleeps in futex"));
  CHECK(place_of(stacks[2], "n").state == "has ended");
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("the program of a rank is found below the shells that started it") {
  const Waiting shell([] { become({"sh", "-c", "sh -c 'sleep 1000; true'; true"}); });
  CHECK(becomes_true([&] {
    const auto tree = tree_of(shell.pid());
    return tree.size() == 3 && tree[2].name == "sleep" &&
           (tree[0].threads[0].syscall.empty() || find_program_in_tree(tree) == 2);
  }));
  std::vector<ProcessState> tree(4);
  const auto waits = ThreadState{.tid = 1, .syscall = "wait4"};
  tree[0] = {.pid = 1, .parent = 0, .name = "bash", .threads = {waits}};
  tree[1] = {.pid = 2, .parent = 1, .name = "sh", .threads = {waits}};
  tree[2] = {.pid = 3, .parent = 2, .name = "a.out", .threads = {{.tid = 3, .syscall = "futex"}}};
  tree[3] = {.pid = 4, .parent = 3, .name = "helper", .threads = {}};
  CHECK(find_program_in_tree(tree) == 2);
  tree[3].parent = 1; // the shell has two children: which one is it?
  CHECK(find_program_in_tree(tree) == 0);
  tree[3].is_python = true;
  CHECK(find_program_in_tree(tree) == 3);
  CHECK(find_program_in_tree({}) == 0);
}

TEST_CASE("what the tools print takes the place of what the kernel says") {
  const test::TempDirectory directory;
  put_program(directory, "gdb",
              "while [ \"$1\" != -p ]; do shift; done\n"
              "echo \"Thread 1 (Thread 0x7f (LWP $2) x):\"\necho '#0  0x01 in train (n=3) at a.c:7'\n");
  const Waiting child([] { become({"sleep", "1000"}); });
  const auto stacks = read_stacks({{0, child.pid()}}, path_of(directory), std::chrono::seconds(60));
  REQUIRE(stacks[0].processes.size() == 1);
  CHECK(stacks[0].remarks.empty());
  CHECK(stacks[0].processes[0].tool == "gdb");
  CHECK(place_of(stacks[0], "n").frames == std::vector<std::string>{"train (a.c:7)"});
  CHECK_FALSE(place_of(stacks[0], "n").state.empty());
}

TEST_CASE("a tool that hangs or may not look is left behind, and said once") {
  const test::TempDirectory directory;
  put_program(directory, "gdb", "/bin/sleep 1000 & echo $! > '" + (directory / "pid").string() + "'; wait\n");
  const Waiting waiting([] { become({"sleep", "1000"}); });
  const Waiting second_waiting([] { become({"sleep", "1000"}); });
  const auto stacks = read_stacks({{0, waiting.pid()}, {1, second_waiting.pid()}}, path_of(directory),
                                  std::chrono::seconds(2));
  for (const auto& rank : stacks) {
    REQUIRE(rank.remarks.size() == 1);
    CHECK(
        (holds(rank.remarks[0], "gdb exceeded its time limit of") || holds(rank.remarks[0], "no time left")));
    CHECK(rank.processes.at(0).tool.empty());
  }
  const auto pid = std::stoi(util::read_file(directory / "pid").value_or("0"));
  CHECK(becomes_true([&] {
    const auto stat = util::read_file("/proc/" + std::to_string(pid) + "/stat");
    return pid != 0 && (!stat || holds(*stat, ") Z ") || holds(*stat, ") X "));
  }));
  put_program(directory, "gdb",
              "echo 'warning: x' >&2; echo 'ptrace: Operation not permitted.' >&2; exit 1\n");
  CHECK(read_stacks({{0, waiting.pid()}}, path_of(directory), std::chrono::seconds(60))[0].remarks ==
        std::vector<std::string>{"gdb: ptrace: Operation not permitted."});
}

TEST_CASE("a real gdb says where a program sleeps") {
  const auto env = util::EnvSnapshot::of_process();
  const Waiting child([] { become({"sleep", "1000"}); });
  if (!util::find_program("gdb", env)) return test::skip("gdb is not installed");
  if (!comes_to(child.pid(), {"clock_nanosleep", "nanosleep"}))
    return test::skip("the kernel does not show the system calls of other processes");
  const auto stacks = read_stacks({{0, child.pid()}}, env, std::chrono::seconds(100));
  if (stacks[0].processes.at(0).tool != "gdb")
    return test::skip("gdb cannot attach: " + (stacks[0].remarks.empty() ? "" : stacks[0].remarks[0]));
  std::string frames;
  for (const auto& frame : place_of(stacks[0], "n").frames) frames += frame + "\n";
  INFO(frames);
  CHECK(holds(frames, "nanosleep"));
  CHECK(::kill(child.pid(), 0) == 0); // and goes on
}

TEST_CASE("a real py-spy says where a Python program waits, below its shell") {
  const auto env = util::EnvSnapshot::of_process();
  if (!util::find_program("py-spy", env)) return test::skip("py-spy is not installed");
  const Waiting shell([] {
    become({"sh", "-c",
            "python3 -c 'import threading\ndef stand():\n  threading.Event().wait()\nstand()'; true"});
  });
  const auto waits = [&] {
    const auto tree = tree_of(shell.pid());
    const auto at = find_program_in_tree(tree);
    return at > 0 && tree[at].is_python && !tree[at].threads.empty() && tree[at].threads[0].state == 'S';
  };
  CHECK(becomes_true([&] {
    if (!waits()) return false; // it also sleeps now and then while it starts
    const auto stacks = read_stacks({{0, shell.pid()}}, env, std::chrono::seconds(60));
    const auto place = place_of(stacks[0], "n");
    for (const auto& frame : place.frames)
      if (frame == "stand (<string>:3)") return true;
    return false;
  }));
}
