// SPDX-License-Identifier: MIT
// The first process of an emulated node, between fork and exec.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/result.hpp"
#include "emulate/child_process.hpp"
#include "emulate/namespaces.hpp"
#include "emulate/net_link.hpp"
#include "emulate/sandbox.hpp"
#include "emulate/sandbox_parts.hpp"
#include "emulate/seccomp_filter.hpp"
#include "emulate/task_tag.hpp"
#include "emulate/unified_groups.hpp"

namespace hpcml::emulate {

namespace {

// A service of a node that costs nothing until a client connects.

util::Result<int> listen_at(unsigned port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const auto* place = reinterpret_cast<const sockaddr*>(&address);
  if (fd >= 0 && ::bind(fd, place, sizeof address) == 0 && ::listen(fd, SOMAXCONN) == 0) return fd;
  const util::Error error{fmt::format("cannot listen at port {}: {}", port, std::strerror(errno)), {}};
  if (fd >= 0) ::close(fd);
  return error;
}

/// The mounts are the program's own: what does not exist is not covered.
util::Status prepare(const InetdService& service, const SandboxNamespaces& isolation) {
  if (::unshare(CLONE_NEWNS) != 0)
    return util::Error{
        fmt::format("cannot create the mount namespace of an ssh connection to an emulated node: {}",
                    std::strerror(errno)),
        "check the limit of mount namespaces: sysctl user.max_mnt_namespaces"};
  TRY_DONE(keep_mounts_private());
  for (const auto& mount : service.mounts)
    if (::access(mount.target.c_str(), F_OK) == 0) TRY_DONE(bind_mount(mount.source, mount.target));
  return become_user(isolation);
}

[[noreturn]] void serve(int connection, const InetdService& service, const SandboxNamespaces& isolation) {
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

[[noreturn]] void wait_at(int listener, const InetdService& service, const SandboxNamespaces& isolation) {
  ::prctl(PR_SET_NAME, "hpcml-port");
  reset_signals();
  ::signal(SIGCHLD, SIG_IGN); // the children are not waited for
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
    if (auto served = util::ChildProcess::fork({}, [&]() -> int { serve(connection, service, isolation); }))
      served->release();
    ::close(connection);
  }
}

/// In the node's first process: leaves another process, in the namespaces of the caller, that waits at the
/// port and starts the service's program for each connection.
util::Status wait_for_connections(const InetdService& service, const SandboxNamespaces& isolation) {
  TRY(const auto listener, listen_at(service.port));
  // Its parent is to be process 1 of the sandbox: the caller becomes a daemon that expects no children.
  auto left = util::leave_process({}, [&]() -> int { wait_at(listener, service, isolation); });
  ::close(listener);
  if (left) return left;
  return util::with_context(left.error(), fmt::format("cannot serve port {}", service.port));
}

util::Status enter_namespaces(const SandboxNode& node, const SandboxNamespaces& isolation) {
  const int wanted = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | (isolation.network ? CLONE_NEWNET : 0);
  if (::unshare(wanted) != 0 || ::sethostname(node.name.c_str(), node.name.size()) != 0)
    return util::Error{
        fmt::format("cannot create the namespaces of emulated node {}: {}", node.name, std::strerror(errno)),
        "use fewer --nodes, or check the limits: sysctl -a | grep 'user.max_.*_namespaces'"};
  return util::Success{};
}

util::Status switch_interfaces_on(const SandboxNode& node) {
  TRY_DONE(set_interface_up("lo"));
  for (const auto& interface : node.interfaces) {
    TRY_DONE(add_address(interface.name, interface.ipv4, 16));
    TRY_DONE(set_interface_up(interface.name));
  }
  return util::Success{};
}

/// What is kept is still reached through the open directory when the node's own is over it.
util::Status give_own_directory(const PerNodeDirectory& directory) {
  const int machines = ::open(directory.target.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (machines < 0)
    return util::Error{fmt::format("cannot open {}, in whose place each emulated node has its own: {}",
                                   directory.target, std::strerror(errno)),
                       fmt::format("check that {} exists and that you can enter it", directory.target)};
  TRY_DONE(bind_mount(directory.source, directory.target));
  for (const auto& name : directory.kept) {
    const auto from = "/proc/self/fd/" + std::to_string(machines) + "/" + name,
               to = directory.target + "/" + name;
    std::error_code error;
    if (std::filesystem::is_symlink(from, error))
      std::filesystem::copy_symlink(from, to, error);
    else if (::mkdir(to.c_str(), 0755) == 0) // one that the caller may not enter stays empty
        [[maybe_unused]]
      const auto seen = bind_mount(from, to);
  }
  ::close(machines);
  return util::Success{};
}

util::Status mount_view(const SandboxNode& node, const NodeStartContext& plan) {
  TRY_DONE(keep_mounts_private());
  if (!node.unified_group.empty()) hide_machine_groups(plan.isolation.network);
  // The login node could mount a sysfs or said that it could not; here it is the same.
  if (plan.isolation.network) [[maybe_unused]]
    const auto ignored = mount_sysfs(plan.scratch);
  if (!node.unified_group.empty()) TRY_DONE(show_unified_node());
  // Shared memory is a node's own: two ranks on "two machines" must not connect there.
  [[maybe_unused]] const auto shared_memory = mount_tmpfs("/dev/shm", "mode=1777");
  for (const auto& directory : node.own_directories) TRY_DONE(give_own_directory(directory));
  for (const auto& mount : plan.mounts) {
    auto step =
        mount.add ? overlay_mount(mount.source, mount.target) : bind_mount(mount.source, mount.target);
    if (!step && !mount.add) return step;
  }
  return util::Success{};
}

} // namespace

void become_node(const SandboxNode& node, const NodeStartContext& plan, StartChannel& channel,
                 int supervisor_socket) {
  channel.keep_child_end();
  reset_signals();
  const auto check = [&](const util::Status& step) {
    if (!step) channel.fail(step.error());
  };
  check(detach_from_terminal(node.log_file));
  check(enter_namespaces(node, plan.isolation));
  if (!node.unified_group.empty()) check(enter_unified_node(node.unified_group));
  if (plan.isolation.network) {
    if (!channel.wait_for_parent()) ::_exit(127); // the cables come from outside
    check(switch_interfaces_on(node));
  }
  check(mount_view(node, plan));
  for (const auto& service : node.services) check(wait_for_connections(service, plan.isolation));
  set_own_task_tag(plan.first_tag);
  const auto listener = install_node_filter(plan.isolation.other_user);
  if (!listener) channel.fail(listener.error());
  if (!send_descriptor(supervisor_socket, *listener)) ::_exit(127);
  ::close(*listener); // or the supervisor never learns that the node's last process ended
  ::close(supervisor_socket);
  check(become_user(plan.isolation));
  channel.fail(execute(node.argv, node.env));
}

} // namespace hpcml::emulate
