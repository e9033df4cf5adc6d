// SPDX-License-Identifier: MIT
#include "run/launch/store_child.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

/// Without clients and without the program that it was left for, a store stays no longer; nor does one that
/// says to who comes late that the step cannot begin.
constexpr auto k_grace = std::chrono::seconds(5);

/// A process that ends: seen by its descriptor, or, on old kernels, by its number.
class Watched {
public:
  explicit Watched(pid_t pid) : x_pid(pid), x_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}
  bool is_lost() const {
    pollfd wait{x_fd, POLLIN, 0};
    if (x_fd >= 0) return ::poll(&wait, 1, 0) == 1;
    return ::kill(x_pid, 0) != 0 && errno == ESRCH;
  }
  pid_t pid() const { return x_pid; }
  int fd() const { return x_fd; }

private:
  pid_t x_pid;
  int x_fd;
};

/// One line where the program's own errors go, without holding that open.
void report_additional(const Watched& program, const std::string& line) {
  if (program.is_lost()) return;
  const std::string path = "/proc/" + std::to_string(program.pid()) + "/fd/2";
  const int fd = ::open(path.c_str(), O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return;
  const std::string text = line + "\n";
  (void)!::write(fd, text.data(), text.size());
  ::close(fd);
}

void use_nothing_for(int descriptor) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0 || nothing == descriptor) return;
  ::dup2(nothing, descriptor);
  ::close(nothing);
}

/// Closes everything but standard error and these.
void keep_only(std::vector<int> kept) {
  use_nothing_for(STDIN_FILENO);
  use_nothing_for(STDOUT_FILENO);
  std::sort(kept.begin(), kept.end());
  unsigned from = STDERR_FILENO + 1;
  for (const int fd : kept) {
    if (fd < static_cast<int>(from)) continue;
    util::close_descriptors(from, static_cast<unsigned>(fd) - 1);
    from = static_cast<unsigned>(fd) + 1;
  }
  util::close_descriptors(from);
}

int serve(store::ListeningSockets listening, store::RendezvousService& rendezvous, store::SessionGate& gate) {
  store::raise_file_limit();
  rendezvous.set_port(listening.port);
  gate.set_port(listening.port);
  store::Server server(std::move(listening), {}, gate);
  const auto ended = server.run(-1);
  if (!ended) util::log_error(ended.error());
  return ended ? 0 : 1;
}

int serve_for(pid_t launcher, store::ListeningSockets listening, const StoreServiceRequest& order) {
  ignore_signals();
  const Watched program(launcher);
  auto kept = listening.sockets;
  kept.push_back(program.fd());
  keep_only(kept);
  bool holds_errors = true;
  const auto report = [&](const std::string& line) {
    if (holds_errors)
      util::log_info(line);
    else
      report_additional(program, util::log_text(util::LogLevel::info, line));
  };
  store::RendezvousService rendezvous(order.rules, report);
  store::SessionGate gate(order.gate, rendezvous, report);
  std::optional<store::Time> alone_since;
  bool had_clients = false; // a client that only checks the port has left at the next check
  rendezvous.set_complete([&] {
    use_nothing_for(STDERR_FILENO);
    holds_errors = false;
  });
  rendezvous.set_end([&](const store::RendezvousService& state, store::Time now) {
    if (!program.is_lost()) return false;
    // Rank 0's launcher has given up; ranks without a key would not believe why.
    const bool has_reason = state.has_failed() && order.gate.plain == store::PlainMessagePolicy::rejected;
    if (!state.registry().complete() && !has_reason) return true;
    if (state.has_failed() && state.registry().all_received()) return true;
    const bool has_clients = !state.has_failed() && state.programs() > 0;
    if (has_clients && had_clients)
      alone_since.reset();
    else if (!alone_since)
      alone_since = now;
    had_clients = has_clients;
    return alone_since && now - *alone_since >= k_grace;
  });
  return serve(std::move(listening), rendezvous, gate);
}

void close_all(const store::ListeningSockets& listening) {
  for (const int fd : listening.sockets) ::close(fd);
}

Error cannot_fork() {
  return Error{fmt::format("cannot start the process of the rendezvous store: {}", std::strerror(errno)),
               "check the limit of processes (ulimit -u) and the free memory of this node"};
}

} // namespace

void ignore_signals() {
  for (int signal = 1; signal < 32; ++signal)
    if (signal != SIGCHLD) ::signal(signal, SIG_IGN);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

Result<StoreChild> start_child_server(const std::vector<std::string>& addresses,
                                      const std::vector<std::uint16_t>& ports,
                                      const std::function<util::Status(store::ListeningSockets)>& serve,
                                      int kept) {
  TRY(auto listening, store::listen_at_first(addresses, ports));
  util::ChildOptions options;
  options.death_signal = SIGKILL;
  options.directory = "/";
  auto child = util::ChildProcess::fork(options, [&] {
    ignore_signals();
    auto open = listening.sockets;
    if (kept >= 0) open.push_back(kept);
    keep_only(std::move(open));
    store::raise_file_limit();
    const auto ended = serve(std::move(listening));
    if (!ended) util::log_error(ended.error());
    return ended ? 0 : 1;
  });
  close_all(listening);
  if (!child) return cannot_fork();
  return StoreChild{listening.port, child->release()};
}

Result<StoreChild> start_store_child(const StoreServiceRequest& order) {
  const int part = order.stays_for_others ? ::eventfd(0, EFD_CLOEXEC) : -1;
  const auto serve_in_child = [&](store::ListeningSockets listening) {
    const auto report = [](const std::string& line) { util::log_info(line); };
    store::RendezvousService rendezvous(order.rules, report);
    store::SessionGate gate(order.gate, rendezvous, report);
    rendezvous.set_port(listening.port);
    gate.set_port(listening.port);
    rendezvous.set_activity(order.activity);
    if (part >= 0) rendezvous.stay_for_others(local_addresses());
    store::Server server(std::move(listening), {}, gate);
    return server.run(part);
  };
  auto child = start_child_server(order.addresses, order.ports, serve_in_child, part);
  if (child)
    child->part = part;
  else if (part >= 0)
    ::close(part);
  return child;
}

Result<std::uint16_t> leave_store(const StoreServiceRequest& order) {
  TRY(auto listening, store::listen_at_first(order.addresses, order.ports));
  const pid_t launcher = ::getpid();
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::session;
  options.directory = "/";
  const auto left =
      util::leave_process(options, [&] { return serve_for(launcher, std::move(listening), order); });
  close_all(listening);
  if (!left) return cannot_fork();
  return listening.port;
}

} // namespace hpcml::launch
