// SPDX-License-Identifier: MIT
// The first process of an emulated node, between fork and exec.
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulate/child_process.hpp"
#include "emulate/net_link.hpp"
#include "emulate/node_service.hpp"
#include "emulate/sandbox_parts.hpp"
#include "emulate/seccomp_filter.hpp"
#include "emulate/task_tag.hpp"
#include "emulate/unified_groups.hpp"

namespace hpcml::emulate {

namespace {

util::Status enter_namespaces(const SandboxNode& node, const Isolation& isolation) {
  const int wanted = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | (isolation.network ? CLONE_NEWNET : 0);
  if (::unshare(wanted) != 0 || ::sethostname(node.name.c_str(), node.name.size()) != 0)
    return util::Error{"cannot make node " + node.name + "'s namespaces: " + std::strerror(errno), {}};
  return util::Done{};
}

util::Status switch_interfaces_on(const SandboxNode& node) {
  TRY_DONE(set_interface_up("lo"));
  for (const auto& interface : node.interfaces) {
    TRY_DONE(add_address(interface.name, interface.ipv4, 16));
    TRY_DONE(set_interface_up(interface.name));
  }
  return util::Done{};
}

/// What is kept is still reached through the open folder when the node's own lies over it.
util::Status give_own_folder(const PrivateDirectory& folder) {
  const int machines = ::open(folder.target.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (machines < 0) return util::Error{"cannot open " + folder.target + ": " + std::strerror(errno), {}};
  TRY_DONE(bind_mount(folder.source, folder.target));
  for (const auto& name : folder.kept) {
    const auto from = "/proc/self/fd/" + std::to_string(machines) + "/" + name,
               to = folder.target + "/" + name;
    std::error_code error;
    if (std::filesystem::is_symlink(from, error))
      std::filesystem::copy_symlink(from, to, error);
    else if (::mkdir(to.c_str(), 0755) == 0) // one that the caller may not enter stays empty
        [[maybe_unused]]
      const auto seen = bind_mount(from, to);
  }
  ::close(machines);
  return util::Done{};
}

util::Status mount_view(const SandboxNode& node, const NodeStart& plan) {
  TRY_DONE(keep_mounts_private());
  if (!node.unified_group.empty()) hide_machine_groups(plan.isolation.network);
  // The login node could mount a sysfs or said that it could not; here it is the same.
  if (plan.isolation.network) [[maybe_unused]]
    const auto ignored = mount_sysfs(plan.scratch);
  if (!node.unified_group.empty()) TRY_DONE(show_unified_node());
  // Shared memory is a node's own: two ranks on "two machines" must not meet there.
  [[maybe_unused]] const auto shared_memory = mount_tmpfs("/dev/shm", "mode=1777");
  for (const auto& folder : node.own_folders) TRY_DONE(give_own_folder(folder));
  for (const auto& mount : plan.mounts) {
    auto step =
        mount.add ? overlay_mount(mount.source, mount.target) : bind_mount(mount.source, mount.target);
    if (!step && !mount.add) return step;
  }
  return util::Done{};
}

} // namespace

void become_node(const SandboxNode& node, const NodeStart& plan, StartChannel& channel,
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
