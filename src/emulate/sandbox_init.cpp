// SPDX-License-Identifier: MIT
// Process 1 of a sandbox. When it ends, the kernel ends every other process of the sandbox.
#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/process.hpp"
#include "emulate/child_process.hpp"
#include "emulate/net_link.hpp"
#include "emulate/sandbox_parts.hpp"

namespace hpcml::emulate {

namespace {

/// Mounts and interfaces of the login node. What a kernel refuses becomes a sentence in `limits`, if one can
/// do without.
util::Status prepare_login(SandboxContext& context) {
  auto& got = context.isolation;
  const auto note = [&](const util::Status& step) {
    if (!step) got.limits.push_back(step.error().what + ".");
  };
  ::sethostname(context.options.login_name.c_str(), context.options.login_name.size());
  TRY_DONE(keep_mounts_private());
  TRY_DONE(mount_tmpfs(context.state_dir, "mode=0755"));
  TRY_DONE(mount_proc());
  ::mkdir((context.state_dir + "/.sandbox").c_str(), 0755);
  if (!got.network) return util::Success{};
  note(set_interface_up("lo"));
  if (!can_make_networks()) {
    got.network = false;
    got.limits.push_back(
        "this kernel has no network bridges (or veth pairs), so all nodes share one loopback interface");
  }
  note(mount_sysfs(context.state_dir + "/.sandbox/sys"));
  return util::Success{};
}

pid_t start_body(const SandboxContext& context) {
  auto body = util::ChildProcess::fork({}, [&] {
    ::close(context.pipes.control);
    context.restore_signals();
    const int code = context.body(*make_sandbox(context));
    send_report(context.pipes.report, "R" + std::to_string(code));
    return 0;
  });
  return body ? body->release() : -1;
}

/// Reaps everybody; true when the body was among them.
bool reap(pid_t body, int report) {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid != body) continue;
    if (WIFSIGNALED(status)) send_report(report, "R" + std::to_string(util::exit_code_of_status(status)));
    return true;
  }
  return false;
}

} // namespace

void send_report(int fd, const std::string& text) {
  [[maybe_unused]] const auto ignored = ::write(fd, text.data(), text.size());
}

void send_failure(int fd, const util::Error& error) { send_report(fd, "E" + error.what + '\0' + error.hint); }

void run_sandbox_init(SandboxContext context) {
  ::prctl(PR_SET_NAME, "hpcml-sandbox");
  ::prctl(PR_SET_PDEATHSIG, SIGKILL); // the warden's end is the sandbox's end
  sigset_t child_ends;
  ::sigemptyset(&child_ends);
  ::sigaddset(&child_ends, SIGCHLD);
  if (const auto ready = prepare_login(context); !ready) {
    send_failure(context.pipes.report, ready.error());
    ::_exit(1);
  }
  const pid_t body = start_body(context); // before the signal is blocked: the body must not inherit that
  ::sigprocmask(SIG_BLOCK, &child_ends, nullptr);
  const int children = ::signalfd(-1, &child_ends, SFD_CLOEXEC | SFD_NONBLOCK);
  if (body < 0 || children < 0 || reap(body, context.pipes.report)) ::_exit(0);
  for (;;) {
    pollfd ready[2] = {{context.pipes.control, POLLIN, 0}, {children, POLLIN, 0}};
    if (::poll(ready, 2, -1) < 0 && errno != EINTR) ::_exit(0);
    if (ready[1].revents & POLLIN) {
      signalfd_siginfo info;
      while (::read(children, &info, sizeof info) > 0) {
      }
      if (reap(body, context.pipes.report)) ::_exit(0);
    }
    if (ready[0].revents != 0) {
      char number = 0;
      const ssize_t count = ::read(context.pipes.control, &number, 1);
      if (count == 0) ::_exit(0); // the caller is gone
      if (count == 1) ::kill(body, number);
    }
  }
}

} // namespace hpcml::emulate
