// SPDX-License-Identifier: MIT
// Child: what it sets in the processes that it starts, and how it waits for them.
#include <catch2/catch.hpp>

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "temp_directory.hpp"

using namespace hpcml::util;
using hpcml::test::TempDirectory;

namespace {

using std::chrono::milliseconds;

/// What a shell prints in a child with these options.
std::string print(ChildOptions options, const std::string& script) {
  options.pipes_output = true;
  auto child = ChildProcess::run({"bash", "-c", script}, EnvSnapshot::of_process(), options);
  REQUIRE(child);
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(child->output(), buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  CHECK(child->wait() == 0);
  return text;
}

std::string number(long long value) { return std::to_string(value) + "\n"; }

} // namespace

TEST_CASE("Child runs a program without a shell") {
  auto child = ChildProcess::run({"test", "$HOME", "=", "$HOME"}, EnvSnapshot::of_process());
  REQUIRE(child);
  CHECK(child->is_running());
  CHECK(child->wait() == 0);
  CHECK_FALSE(child->is_running());
  CHECK(ChildProcess::run({"no-such-program"}, EnvSnapshot::of_process()).error().what ==
        "cannot run no-such-program: not found in PATH");
  CHECK(ChildProcess::run({}, EnvSnapshot::of_process()).error().what ==
        "no program to run: the command is empty");
  CHECK(ChildProcess::run({"/no/such/program"}, EnvSnapshot::of_process()).error().what ==
        "cannot run /no/such/program: it is not an executable file");
}

TEST_CASE("Child gives the program only the variables of its environment") {
  EnvSnapshot env;
  env.set("PATH", "/usr/bin:/bin");
  env.set("A", "b");
  ChildOptions options;
  options.pipes_output = true;
  auto child = ChildProcess::run({"env"}, env, options);
  REQUIRE(child);
  char text[64] = {};
  CHECK(::read(child->output(), text, sizeof text - 1) > 0);
  CHECK(std::string(text) == "A=b\nPATH=/usr/bin:/bin\n");
  CHECK(child->wait() == 0);
}

TEST_CASE("Child exits with 126 if a file cannot be executed") {
  const TempDirectory directory;
  const auto file = (directory / "data").string();
  REQUIRE(write_file(file, "\x7f", 0755));
  auto child = ChildProcess::run({file}, EnvSnapshot::of_process());
  REQUIRE(child);
  CHECK(exit_code_of_status(child->wait()) == 126);
}

TEST_CASE("Child exits with the code of a forked function") {
  auto child = ChildProcess::fork({}, [] { return 7; });
  REQUIRE(child);
  CHECK(exit_code_of_status(child->wait()) == 7);
}

TEST_CASE("Child sets group and session") {
  const std::string ids = "cut -d' ' -f5,6 /proc/$$/stat; echo $$";
  const auto inherited = print({}, ids);
  CHECK(inherited.starts_with(std::to_string(::getpgrp()) + " " + number(::getsid(0))));
  ChildOptions options;
  options.group = ChildOptions::Group::own;
  const auto own = print(options, ids);
  const auto pid = own.substr(own.find('\n') + 1);
  CHECK(own == pid.substr(0, pid.size() - 1) + " " + number(::getsid(0)) + pid);
  options.group = ChildOptions::Group::session;
  const auto session = print(options, ids);
  const auto leader = session.substr(session.find('\n') + 1);
  CHECK(session == leader.substr(0, leader.size() - 1) + " " + leader + leader);
}

TEST_CASE("Child sets signal mask and actions") {
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto before_hup = ::signal(SIGHUP, SIG_IGN);
  const std::string masks = "sed -n 's/^Sig\\(Blk\\|Ign\\):\\t0*//p' /proc/self/status";
  const auto inherited = print({}, masks);
  ChildOptions options;
  options.mask = no_signals();
  options.default_signals = {SIGHUP};
  options.ignored_signals = {SIGUSR2};
  const auto set = print(options, masks);
  ::signal(SIGHUP, before_hup);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  const auto ignored = [](const std::string& text) {
    return std::stoul(text.substr(text.find('\n') + 1), nullptr, 16);
  };
  CHECK(inherited.starts_with("200\n"));
  CHECK((ignored(inherited) & 1U) == 1U);
  CHECK(set.starts_with("\n"));
  CHECK((ignored(set) & 1U) == 0);
  CHECK((ignored(set) & (1U << (SIGUSR2 - 1))) != 0);
}

TEST_CASE("Child sets descriptors, directory and affinity") {
  const TempDirectory directory;
  REQUIRE(write_file(directory / "in", "from a file\n"));
  const int file = ::open((directory / "in").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  cpu_set_t before, first_cpu;
  REQUIRE(::sched_getaffinity(0, sizeof before, &before) == 0);
  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  CPU_ZERO(&first_cpu);
  CPU_SET(first, &first_cpu);
  ChildOptions options;
  options.descriptors = {{STDIN_FILENO, file}, {7, ChildOptions::k_null_device}};
  options.directory = directory.path().string();
  options.cpus = first_cpu;
  const auto text = print(options, "cat; readlink /proc/$$/fd/7; pwd; "
                                   "sed -n 's/^Cpus_allowed_list:\\t//p' /proc/$$/status");
  ::close(file);
  CHECK(text == "from a file\n/dev/null\n" + directory.path().string() + "\n" + number(first));
  options.directory = (directory / "missing").string();
  options.descriptors.clear();
  auto lost = ChildProcess::run({"true"}, EnvSnapshot::of_process(), options);
  REQUIRE(lost);
  CHECK(exit_code_of_status(lost->wait()) == 126);
}

TEST_CASE("Child with a death signal ends with its parent") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  ChildOptions options;
  options.death_signal = SIGKILL;
  auto parent = ChildProcess::fork({}, [&] {
    auto child = ChildProcess::fork(options, [] { return ::pause(); });
    return child ? 0 : 1;
  });
  ::close(ends[1]); // the child holds the other end until it ends
  REQUIRE(parent);
  CHECK(parent->wait() == 0);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0);
  ::close(ends[0]);
}

TEST_CASE("Child waits no longer than asked and kills its group") {
  ChildOptions options;
  options.group = ChildOptions::Group::own;
  options.pipes_output = true;
  auto child = ChildProcess::run({"bash", "-c", "sleep 60 & wait"}, EnvSnapshot::of_process(), options);
  REQUIRE(child);
  CHECK_FALSE(child->wait_for(milliseconds(20)));
  CHECK(child->is_running());
  CHECK(exit_code_of_status(child->kill()) == 128 + SIGKILL);
  char byte = 0;
  CHECK(::read(child->output(), &byte, 1) == 0); // `sleep` has ended, too
  auto quick = ChildProcess::fork({}, [] { return 3; });
  REQUIRE(quick);
  CHECK(quick->wait_for(std::chrono::minutes(5)) == 3 << 8);
}

TEST_CASE("leave_process starts a process that is not a child") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  ChildOptions options;
  options.group = ChildOptions::Group::session;
  REQUIRE(leave_process(options, [&] {
    const pid_t numbers[] = {::getsid(0) == ::getpid() ? 0 : 1, ::getsid(0)};
    return ::write(ends[1], numbers, sizeof numbers) == sizeof numbers ? 0 : 1;
  }));
  ::close(ends[1]);
  pid_t numbers[2] = {};
  CHECK(::read(ends[0], numbers, sizeof numbers) == sizeof numbers);
  ::close(ends[0]);
  CHECK(numbers[0] == 1); // it leads no session, and so never gets a terminal
  CHECK(numbers[1] != ::getsid(0));
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}
