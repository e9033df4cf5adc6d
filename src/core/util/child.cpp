// SPDX-License-Identifier: MIT
#include "core/util/child.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "core/util/process.hpp"

namespace hpcml::util {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int k_parent_has_ended = 125, k_not_executable = 126, k_not_found = 127;
constexpr int k_lost = 255 << 8; // status of a child that another waiter has taken

/// A child of this process, or with it of its parent.
pid_t start_process(bool is_sibling) {
  if (!is_sibling) return ::fork();
  return static_cast<pid_t>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

bool set_descriptor(const ChildOptions::Descriptor& descriptor) {
  const bool is_null = descriptor.source == ChildOptions::k_null_device;
  const int source = is_null ? ::open("/dev/null", O_RDWR | O_CLOEXEC) : descriptor.source;
  if (source == descriptor.number) return ::fcntl(source, F_SETFD, 0) == 0;
  return source >= 0 && ::dup2(source, descriptor.number) >= 0;
}

/// In the child: everything before its work. Takes no lock and no memory. False if something failed.
bool set_up(const ChildOptions& options, pid_t parent) {
  if (options.group == ChildOptions::Group::own) ::setpgid(0, 0);
  if (options.group == ChildOptions::Group::session) ::setsid();
  if (options.death_signal != 0) {
    ::prctl(PR_SET_PDEATHSIG, options.death_signal);
    const pid_t now = ::getppid();                              // 0: a process of another namespace
    if (now != parent && now != 0) ::_exit(k_parent_has_ended); // before the kernel knew what to send
  }
  for (const int number : options.ignored_signals) ::signal(number, SIG_IGN);
  for (const int number : options.default_signals) ::signal(number, SIG_DFL);
  for (const auto& descriptor : options.descriptors)
    if (!set_descriptor(descriptor)) return false;
  if (!options.directory.empty() && ::chdir(options.directory.c_str()) != 0) return false;
  if (options.cpus && ::sched_setaffinity(0, sizeof *options.cpus, &*options.cpus) != 0) return false;
  if (options.mask) ::sigprocmask(SIG_SETMASK, &*options.mask, nullptr);
  return true;
}

} // namespace

sigset_t no_signals() {
  sigset_t none;
  ::sigemptyset(&none);
  return none;
}

std::vector<int> signals_except(const std::vector<int>& kept) {
  std::vector<int> numbers;
  for (int number = 1; number < 32; ++number)
    if (std::find(kept.begin(), kept.end(), number) == kept.end()) numbers.push_back(number);
  return numbers;
}

ChildProcess::ChildProcess(ChildProcess&& source) noexcept
    : x_pid(std::exchange(source.x_pid, -1)), x_output(std::exchange(source.x_output, -1)),
      x_has_group(source.x_has_group) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& source) noexcept {
  if (this == &source) return *this;
  close_output();
  x_pid = std::exchange(source.x_pid, -1);
  x_output = std::exchange(source.x_output, -1);
  x_has_group = source.x_has_group;
  return *this;
}

void ChildProcess::close_output() {
  if (x_output >= 0) ::close(x_output);
  x_output = -1;
}

Result<ChildProcess> ChildProcess::fork(const ChildOptions& options, const std::function<int()>& body) {
  int ends[2] = {-1, -1};
  if (options.pipes_output && ::pipe2(ends, O_CLOEXEC) != 0)
    return Error{fmt::format("cannot create a pipe to a process: {}", std::strerror(errno)),
                 "check the number of open files (ulimit -n)"};
  const pid_t parent = options.is_sibling ? ::getppid() : ::getpid();
  const pid_t pid = start_process(options.is_sibling);
  if (pid == 0) {
    if (options.pipes_output && !set_descriptor({STDOUT_FILENO, ends[1]})) ::_exit(k_not_executable);
    ::_exit(set_up(options, parent) ? body() : k_not_executable);
  }
  const int error = errno;
  if (ends[1] >= 0) ::close(ends[1]);
  ChildProcess child;
  child.x_output = ends[0];
  if (pid < 0)
    return Error{fmt::format("cannot start a process (fork): {}", std::strerror(error)),
                 "check the number of processes (ulimit -u) and the memory"};
  child.x_pid = pid;
  child.x_has_group = options.group != ChildOptions::Group::inherited;
  if (options.group == ChildOptions::Group::own) ::setpgid(pid, pid); // set whichever process runs first
  return child;
}

Result<ChildProcess> ChildProcess::run(const std::vector<std::string>& argv, const EnvSnapshot& env,
                                       const ChildOptions& options) {
  if (argv.empty())
    return Error{"no program to run: the command is empty",
                 "run hpcml again with -v, and report the output as a bug in hpcml"};
  const auto program = find_program(argv[0], env);
  if (!program && argv[0].find('/') != std::string::npos)
    return Error{fmt::format("cannot run {}: it is not an executable file", argv[0]),
                 "check the path and its permissions"};
  if (!program)
    return Error{fmt::format("cannot run {}: not found in PATH", argv[0]),
                 "add its directory to PATH, or load the module that provides it"};
  auto words = argv, variables = env.to_envp();
  const auto argument_list = exec_pointers(words), variable_list = exec_pointers(variables);
  return fork(options, [&] {
    ::execve(program->c_str(), argument_list.data(), variable_list.data());
    return errno == ENOENT ? k_not_found : k_not_executable;
  });
}

int ChildProcess::wait() {
  int status = k_lost;
  if (x_pid > 0)
    while (::waitpid(x_pid, &status, 0) < 0 && errno == EINTR) {
    }
  x_pid = -1;
  return status;
}

std::optional<int> ChildProcess::wait_for(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  int status = k_lost;
  for (int pause_ms = 1; x_pid > 0; pause_ms = std::min(2 * pause_ms, 50)) {
    const pid_t found = ::waitpid(x_pid, &status, WNOHANG);
    if (found == x_pid || (found < 0 && errno != EINTR)) break;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    ::poll(nullptr, 0, static_cast<int>(std::min<long long>(pause_ms, left)));
  }
  x_pid = -1;
  return status;
}

int ChildProcess::kill() {
  if (x_pid > 0 && x_has_group) ::kill(-x_pid, SIGKILL);
  if (x_pid > 0) ::kill(x_pid, SIGKILL);
  return wait();
}

pid_t ChildProcess::release() { return std::exchange(x_pid, -1); }

Status leave_process(const ChildOptions& options, const std::function<int()>& body) {
  auto inner_options = options;
  inner_options.group = ChildOptions::Group::inherited;
  ChildOptions outer_options;
  outer_options.group = options.group;
  TRY(auto between, ChildProcess::fork(outer_options,
                                       [&] { return ChildProcess::fork(inner_options, body).ok() ? 0 : 1; }));
  if (between.wait() == 0) return Success{};
  return Error{"cannot start a background process: fork failed",
               "check the number of processes (ulimit -u) and the memory"};
}

} // namespace hpcml::util
