// SPDX-License-Identifier: MIT
#include "emulate/node_service.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulate/child_process.hpp"

namespace hpcml::emulate {

namespace {

util::Result<int> listen_at(unsigned port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  if (fd >= 0 && ::bind(fd, place, sizeof address) == 0 && ::listen(fd, SOMAXCONN) == 0) return fd;
  const util::Error error{"cannot listen at port " + std::to_string(port) + ": " + std::strerror(errno), {}};
  if (fd >= 0) ::close(fd);
  return error;
}

/// The mounts are the program's own: what is not there is not covered.
util::Status prepare(const NodeService& service, const Isolation& isolation) {
  if (::unshare(CLONE_NEWNS) != 0)
    return util::Error{std::string("cannot make a mount namespace: ") + std::strerror(errno), {}};
  TRY_DONE(keep_mounts_private());
  for (const auto& mount : service.mounts)
    if (::access(mount.target.c_str(), F_OK) == 0) TRY_DONE(bind_mount(mount.source, mount.target));
  return become_user(isolation);
}

[[noreturn]] void serve(int connection, const NodeService& service, const Isolation& isolation) {
  reset_signals();
  const auto ready = prepare(service, isolation);
  if (ready) {
    ::dup2(connection, 0);
    ::dup2(connection, 1);
  }
  const auto error = ready ? execute(service.argv, service.env) : ready.error();
  const auto text = error.what + "\n";
  [[maybe_unused]] const auto ignored = ::write(2, text.data(), text.size());
  ::_exit(127);
}

[[noreturn]] void wait_at(int listener, const NodeService& service, const Isolation& isolation) {
  ::prctl(PR_SET_NAME, "hpcml-port");
  reset_signals();
  ::signal(SIGCHLD, SIG_IGN); // nobody waits for the children
  listener = close_all_but(listener);
  if (!detach_from_terminal(service.log_file)) ::_exit(1);
  for (;;) {
    const int connection = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) {
      if (errno != EINTR && errno != ECONNABORTED) ::usleep(10000); // no room for one more: it may come
      continue;
    }
    const int on = 1; // short messages one after another would each wait for the other side's word
    ::setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::fork() == 0) serve(connection, service, isolation);
    ::close(connection);
  }
}

} // namespace

util::Status wait_for_connections(const NodeService& service, const Isolation& isolation) {
  TRY(const auto listener, listen_at(service.port));
  // Its parent is to be process 1 of the sandbox: the caller becomes a daemon that expects no children.
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t pid = ::fork();
    if (pid == 0) wait_at(listener, service, isolation);
    ::_exit(pid > 0 ? 0 : 1);
  }
  ::close(listener);
  int status = 1;
  while (between > 0 && ::waitpid(between, &status, 0) < 0 && errno == EINTR) {
  }
  if (between > 0 && status == 0) return util::Done{};
  return util::Error{"cannot start a process for port " + std::to_string(service.port), {}};
}

} // namespace hpcml::emulate
