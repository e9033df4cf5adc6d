// SPDX-License-Identifier: MIT
#include "emulate/namespaces.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/kernel_file.hpp"
#include "emulate/net_link.hpp"

namespace hpcml::emulate {

namespace {

/// A user namespace in which only the caller exists, by these ids.
bool enter_users(unsigned inside_user, unsigned inside_group) {
  const auto user = std::to_string(inside_user) + " " + std::to_string(::geteuid()) + " 1";
  const auto group = std::to_string(inside_group) + " " + std::to_string(::getegid()) + " 1";
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  return util::write_kernel_file("/proc/self/setgroups", "deny").ok() &&
         util::write_kernel_file("/proc/self/uid_map", user).ok() &&
         util::write_kernel_file("/proc/self/gid_map", group).ok();
}

/// Whether root may switch groups here, tried with the groups that it has.
bool may_set_groups() {
  const int count = ::getgroups(0, nullptr);
  std::vector<gid_t> groups(static_cast<std::size_t>(count < 0 ? 0 : count));
  if (count < 0 || ::getgroups(count, groups.data()) != count) return false;
  return ::setgroups(groups.size(), groups.data()) == 0;
}

constexpr const char* k_container_hint =
    "run the container with docker run --privileged, or with securityContext: {privileged: true} in "
    "Kubernetes";

util::Error no_namespaces(int why) {
  const std::string what = fmt::format(
      "this machine allows no namespaces ({}), which the emulated nodes need", std::strerror(why));
  if (why == ENOSPC)
    return {what, "run as root to raise their number: sysctl -w user.max_user_namespaces=10000"};
  if (why == EINVAL || why == ENOSYS) return {what, "use a Linux kernel with CONFIG_USER_NS"};
  return {what,
          fmt::format("{}; on your own machine run it as root, or allow them: sysctl -w "
                      "kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0",
                      k_container_hint)};
}

/// A refusal of a mount: what the machine's owner can do about it.
util::Error mount_failed(const std::string& what, const char* permission_hint = k_container_hint) {
  const int why = errno;
  util::Error error{fmt::format("{}: {}", what, std::strerror(why)), {}};
  if (why == EPERM || why == EACCES)
    error.hint = permission_hint;
  else if (why == ENODEV)
    error.hint = "use a kernel that lists this file system in /proc/filesystems";
  else if (why == ENOSPC)
    error.hint = "check sysctl fs.mount-max, the limit of mounts";
  else
    error.hint = "check dmesg, to which the kernel may have written the reason";
  return error;
}

// A user that every daemon takes for one without privileges.
constexpr unsigned k_plain_user = 1000;

} // namespace

util::Result<SandboxNamespaces> leave_host_namespaces(bool network) {
  SandboxNamespaces got;
  constexpr int base = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID;
  got.run_user = ::geteuid();
  got.run_group = ::getegid();
  bool left = ::unshare(base) == 0;
  const bool may_switch = left && (got.run_user != 0 || may_set_groups());
  if (!left && enter_users(0, 0)) {
    got.user = true;
    left = ::unshare(base) == 0;
  }
  if (!left) return no_namespaces(errno);
  got.other_user = got.user || !may_switch;
  if (got.run_user == 0 && got.other_user) got.run_user = got.run_group = k_plain_user;
  if (!network) return got;
  if (::unshare(CLONE_NEWNET) == 0)
    got.network = true;
  else
    got.limits.push_back(
        fmt::format("this machine allows no network namespace ({}), so all nodes use its loopback interface",
                    std::strerror(errno)));
  return got;
}

util::Status become_user(const SandboxNamespaces& isolation) {
  if (!isolation.other_user || enter_users(isolation.run_user, isolation.run_group)) return util::Success{};
  return util::Error{fmt::format("cannot create the user namespace in which your jobs run as your user: {}",
                                 std::strerror(errno)),
                     "run hpcml emulate as root, or check its limit: sysctl user.max_user_namespaces"};
}

bool can_make_networks() {
  auto child = util::ChildProcess::fork({}, [] {
    const bool works = ::unshare(CLONE_NEWNET) == 0 && create_bridge("try0").ok() &&
                       create_cable("try1", "try0", "try2", ::getpid()).ok();
    return works ? 0 : 1;
  });
  return child && child->wait() == 0;
}

util::Status keep_mounts_private() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) return util::Success{};
  const bool no_mount = errno == EINVAL;
  auto error = mount_failed("cannot separate the cluster's mounts from those of this machine");
  if (no_mount)
    error.hint = "use a mount as the directory of the chroot: mount --bind DIR DIR, then chroot DIR";
  return error;
}

util::Status mount_tmpfs(const std::string& target, const std::string& options) {
  if (::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0)
    return util::Success{};
  return mount_failed(
      fmt::format("cannot mount a private tmpfs at {} (a container must allow mounts)", target));
}

util::Status mount_proc() {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0)
    return util::Success{};
  return mount_failed(
      "cannot mount /proc for the emulated cluster",
      "run the container with docker run --security-opt systempaths=unconfined (or --privileged), or with "
      "procMount: Unmasked in Kubernetes");
}

util::Status mount_sysfs(const std::string& scratch) {
  if (::mkdir(scratch.c_str(), 0755) != 0 && errno != EEXIST)
    return util::Error{
        fmt::format("cannot create {} for an emulated node: {}", scratch, std::strerror(errno)),
        "check the free memory of this machine (free -h), which holds the files of the cluster"};
  if (::mount("sysfs", scratch.c_str(), "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return mount_failed("cannot mount a sysfs for an emulated node (a container must allow mounts)");
  // Slurm looks for its control groups here; a new sysfs comes without them.
  ::mount("/sys/fs/cgroup", (scratch + "/fs/cgroup").c_str(), nullptr, MS_BIND | MS_REC, nullptr);
  if (::mount(scratch.c_str(), "/sys", nullptr, MS_MOVE, nullptr) == 0) return util::Success{};
  const auto error =
      mount_failed("cannot move the sysfs of an emulated node to /sys (a container must allow mounts)");
  ::umount2(scratch.c_str(), MNT_DETACH);
  return error;
}

util::Status bind_mount(const std::string& source, const std::string& target) {
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0)
    return util::Success{};
  auto error = mount_failed(fmt::format("cannot mount {} at {} for the emulated cluster", source, target));
  if (::access(source.c_str(), F_OK) != 0)
    error.hint = fmt::format("check that {} exists", source);
  else if (::access(target.c_str(), F_OK) != 0)
    error.hint = fmt::format("add {}, which does not exist: hpcml mounts only over existing paths", target);
  return error;
}

util::Status overlay_mount(const std::string& source, const std::string& target) {
  const std::string options = "lowerdir=" + source + ":" + target;
  if (::mount("overlay", target.c_str(), "overlay", MS_NOSUID | MS_NODEV | MS_RDONLY, options.c_str()) == 0)
    return util::Success{};
  return mount_failed(
      fmt::format("cannot mount an overlay of {} over {} (needs a kernel with overlayfs)", source, target));
}

} // namespace hpcml::emulate
