// SPDX-License-Identifier: MIT
#include "emulate/sandbox.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/text.hpp"
#include "emulate/child_process.hpp"
#include "emulate/job_cgroups.hpp"
#include "emulate/sandbox_parts.hpp"

namespace hpcml::emulate {

namespace {

constexpr int k_passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
int g_control = -1; // for the signal handler

void pass_on(int number, siginfo_t* info, void*) {
  // The terminal's own Ctrl-C goes to the whole foreground group, and so to the command, without help.
  if ((number == SIGINT || number == SIGQUIT) && info->si_code == SI_KERNEL) return;
  const int saved = errno;
  const char byte = static_cast<char>(number);
  [[maybe_unused]] const auto ignored = ::write(g_control, &byte, 1);
  errno = saved;
}

/// This process's signal dispositions while it waits for a sandbox.
class SignalGuard {
public:
  SignalGuard() {
    ::sigprocmask(SIG_SETMASK, nullptr, &x_mask);
    for (const int number : k_passed_on) ::sigaction(number, nullptr, &x_before[number]);
    struct sigaction action {};
    action.sa_sigaction = pass_on;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    for (const int number : k_passed_on)
      if (x_before[number].sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &x_pipe);
  }
  ~SignalGuard() { restore(); }
  void restore() const {
    for (const int number : k_passed_on) ::sigaction(number, &x_before[number], nullptr);
    ::sigaction(SIGPIPE, &x_pipe, nullptr);
    ::sigprocmask(SIG_SETMASK, &x_mask, nullptr);
  }

private:
  sigset_t x_mask{};
  struct sigaction x_before[NSIG] {};
  struct sigaction x_pipe {};
};

/// The terminal's foreground group, given back after a command (a shell, say) took it.
class TerminalGuard {
public:
  TerminalGuard() : x_group(::tcgetpgrp(0)) {}
  ~TerminalGuard() {
    if (x_group < 0 || x_group != ::getpgrp() || ::tcgetpgrp(0) == x_group) return;
    sigset_t stop, before;
    ::sigemptyset(&stop);
    ::sigaddset(&stop, SIGTTOU);
    ::sigprocmask(SIG_BLOCK, &stop, &before);
    ::tcsetpgrp(0, x_group);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
  }

private:
  pid_t x_group;
};

/// What a sandbox has on the machine.
struct SandboxTraces {
  std::string directory; ///< holds files only where no private file system could be mounted over it
  JobCgroups job_groups;
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    remove_job_groups(job_groups);
  }
};

void close_pair(int (&ends)[2]) {
  for (int& end : ends) {
    if (end >= 0) ::close(end);
    end = -1;
  }
}

/// Removes the traces when the caller and the warden are gone, even by SIGKILL to their whole process group.
class CleanupProcess {
public:
  explicit CleanupProcess(const SandboxTraces& traces) {
    int life[2];
    if (::pipe2(life, O_CLOEXEC) != 0) return;
    util::ChildOptions options;
    options.group = util::ChildOptions::Group::session;
    options.directory = "/";
    if (auto child = util::ChildProcess::fork(options, [&]() -> int { wait_and_remove(life[0], traces); }))
      x_child = *std::move(child);
    ::close(life[0]);
    x_life = life[1]; // the sandbox's processes inherit it and keep the janitor waiting
  }
  /// When nothing is left to remove.
  ~CleanupProcess() {
    if (x_life >= 0) ::close(x_life);
    x_child.kill();
  }
  CleanupProcess(const CleanupProcess&) = delete;
  CleanupProcess& operator=(const CleanupProcess&) = delete;

private:
  [[noreturn]] static void wait_and_remove(int life, const SandboxTraces& traces) {
    ::prctl(PR_SET_NAME, "hpcml-janitor");
    const int end = close_all_but(life);
    for (int standard = 0; standard < 3; ++standard) ::close(standard); // so that no reader waits for it
    char byte;
    while (::read(end, &byte, 1) < 0 && errno == EINTR) {
    }
    traces.remove();
    ::_exit(0);
  }
  util::ChildProcess x_child;
  int x_life = -1;
};

/// On the machine's side: leaves its namespaces and waits for process 1, whatever the terminal says
/// meanwhile.
[[noreturn]] void run_warden(SandboxContext context, const SandboxOptions& options) {
  ::prctl(PR_SET_NAME, "hpcml-warden");
  for (const int number :
       {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGUSR1, SIGUSR2})
    ::signal(number, SIG_IGN);
  auto isolation = leave_host_namespaces(options.isolate_network);
  if (!isolation) {
    send_failure(context.pipes.report, isolation.error());
    ::_exit(1);
  }
  context.isolation = std::move(*isolation);
  auto init = util::ChildProcess::fork({}, [&]() -> int { run_sandbox_init(std::move(context)); });
  // Only the caller may hold the report's and the control's other ends.
  ::close(context.pipes.control);
  ::close(context.pipes.report);
  if (init) init->wait();
  ::_exit(init ? 0 : 1);
}

util::Result<int> read_report(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = ::read(fd, buffer, sizeof buffer)) != 0;) {
    if (count > 0)
      text.append(buffer, static_cast<std::size_t>(count));
    else if (errno != EINTR)
      break;
  }
  if (text.starts_with("E")) {
    const auto zero = text.find('\0');
    return util::Error{text.substr(1, zero - 1),
                       zero == std::string::npos ? std::string() : text.substr(zero + 1)};
  }
  if (text.starts_with("R")) return static_cast<int>(std::strtol(text.c_str() + 1, nullptr, 10));
  return util::Error{"the main process of the emulated cluster was killed",
                     "check dmesg for the kernel's out-of-memory killer"};
}

/// Daemons' configuration cannot quote a path, and the path of a socket in it has little room.
const char* path_fault(const std::string& place) {
  constexpr std::size_t longest = 60;
  if (place.empty() || place.front() != '/') return "is not an absolute path";
  if (place.size() > longest) return "is longer than 60 characters";
  const bool plain = std::all_of(place.begin(), place.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("/._-", c) != nullptr;
  });
  return plain ? nullptr : "has characters that Slurm's configuration does not accept";
}

/// A new directory in the first place that allows one.
util::Result<std::string> make_state_directory(const std::vector<std::string>& places) {
  std::vector<std::string> faults;
  for (const auto& place : places) {
    if (const auto* fault = path_fault(place)) {
      faults.push_back(place + " " + fault);
      continue;
    }
    std::string directory = place + (place.back() == '/' ? "" : "/") + "hpcml-sandbox-XXXXXX";
    if (::mkdtemp(directory.data()) != nullptr) return directory;
    faults.push_back(place + ": " + std::strerror(errno));
  }
  return util::Error{
      fmt::format("cannot create a directory for the emulated cluster: {}", util::join(faults, "; ")),
      "set TMPDIR to a directory that you can write to: TMPDIR=DIRECTORY hpcml emulate ..."};
}

} // namespace

util::Result<int> run_in_sandbox(const SandboxOptions& options, const std::function<int(Sandbox&)>& body) {
  SandboxTraces traces;
  TRY(traces.job_groups, make_job_groups(options.constrained_resources));
  if (auto directory = make_state_directory(options.places)) {
    traces.directory = *directory;
  } else {
    traces.remove();
    return directory.error();
  }
  int control[2] = {-1, -1}, report[2] = {-1, -1};
  if (::pipe2(control, O_CLOEXEC | O_NONBLOCK) != 0 || ::pipe2(report, O_CLOEXEC) != 0) {
    close_pair(control);
    traces.remove();
    return util::Error{fmt::format("cannot create a pipe for the emulated cluster: {}", std::strerror(errno)),
                       "check `ulimit -n`, the limit of open files"};
  }
  std::fflush(nullptr); // or the children print what is still buffered here again
  TerminalGuard terminal;
  g_control = control[1];
  SignalGuard signals;
  const CleanupProcess janitor(traces);
  auto warden = util::ChildProcess::fork({}, [&]() -> int {
    ::close(control[1]);
    ::close(report[0]);
    run_warden({traces.directory,
                traces.job_groups,
                options,
                {},
                {control[0], report[1]},
                [&signals] { signals.restore(); },
                body},
               options);
  });
  ::close(control[0]);
  ::close(report[1]);
  control[0] = report[1] = -1;
  if (warden) warden->wait();
  auto result = read_report(report[0]);
  close_pair(control);
  close_pair(report);
  traces.remove();
  if (!warden)
    return util::with_context(warden.error(), "cannot start the main process of the emulated cluster");
  return result;
}

} // namespace hpcml::emulate
