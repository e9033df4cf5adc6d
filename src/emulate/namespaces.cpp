// SPDX-License-Identifier: MIT
#include "emulate/namespaces.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emulate/net_link.hpp"

namespace hpcml::emulate {

namespace {

util::Error failed(const std::string& what) { return {what + ": " + std::strerror(errno), {}}; }

bool write_text(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::close(fd);
  return done;
}

/// A user namespace in which only the caller exists, by these ids.
bool enter_users(unsigned inside_user, unsigned inside_group) {
  const auto user = std::to_string(inside_user) + " " + std::to_string(::geteuid()) + " 1";
  const auto group = std::to_string(inside_group) + " " + std::to_string(::getegid()) + " 1";
  if (::unshare(CLONE_NEWUSER) != 0) return false;
  return write_text("/proc/self/setgroups", "deny") && write_text("/proc/self/uid_map", user) &&
         write_text("/proc/self/gid_map", group);
}

} // namespace

Isolation leave_host_namespaces(bool network) {
  Isolation got;
  constexpr int base = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID;
  bool left = ::unshare(base) == 0;
  got.caller_user = ::geteuid();
  got.caller_group = ::getegid();
  if (!left && enter_users(0, 0)) {
    got.user = true;
    left = ::unshare(base) == 0;
  }
  const int why = errno;
  got.processes = got.mounts = got.hosts = left;
  if (!left) {
    got.limits.push_back(std::string("This machine allows no namespaces (") + std::strerror(why) +
                         "): all nodes share its host name, its interfaces and its /sys.");
    return got;
  }
  if (!network) return got;
  if (::unshare(CLONE_NEWNET) == 0)
    got.network = true;
  else
    got.limits.push_back(std::string("This machine allows no network namespace (") + std::strerror(errno) +
                         "): all nodes use its loopback interface.");
  return got;
}

util::Status become_caller_again(const Isolation& isolation) {
  if (!isolation.user || enter_users(isolation.caller_user, isolation.caller_group)) return util::Done{};
  return failed("cannot return from root of the sandbox to your own user");
}

bool can_make_networks() {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool works = ::unshare(CLONE_NEWNET) == 0 && create_bridge("try0").ok() &&
                       create_cable("try1", "try0", "try2", ::getpid()).ok();
    ::_exit(works ? 0 : 1);
  }
  int status = 1;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && status == 0;
}

util::Status keep_mounts_private() {
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0) return util::Done{};
  return failed("cannot make the mounts private");
}

util::Status mount_tmpfs(const std::string& target, const std::string& options) {
  if (::mount("tmpfs", target.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0)
    return util::Done{};
  return failed("cannot mount a private file system at " + target);
}

util::Status mount_proc() {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0) return util::Done{};
  return failed("cannot mount /proc for the sandbox");
}

util::Status mount_sysfs(const std::string& scratch) {
  if (::mkdir(scratch.c_str(), 0755) != 0 && errno != EEXIST) return failed("cannot make " + scratch);
  if (::mount("sysfs", scratch.c_str(), "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return failed("cannot mount /sys with the node's own interfaces");
  // Slurm looks for its control groups here; a new sysfs comes without them.
  ::mount("/sys/fs/cgroup", (scratch + "/fs/cgroup").c_str(), nullptr, MS_BIND | MS_REC, nullptr);
  if (::mount(scratch.c_str(), "/sys", nullptr, MS_MOVE, nullptr) == 0) return util::Done{};
  const auto error = failed("cannot put the node's /sys in its place");
  ::umount2(scratch.c_str(), MNT_DETACH);
  return error;
}

util::Status bind_mount(const std::string& source, const std::string& target) {
  if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) == 0) return util::Done{};
  auto error = failed("cannot show " + source + " at " + target);
  if (::access(source.c_str(), F_OK) != 0)
    error.hint = source + " does not exist.";
  else if (::access(target.c_str(), F_OK) != 0)
    error.hint = target + " does not exist here; only what exists can be covered.";
  return error;
}

util::Status overlay_mount(const std::string& source, const std::string& target) {
  const std::string options = "lowerdir=" + source + ":" + target;
  if (::mount("overlay", target.c_str(), "overlay", MS_NOSUID | MS_NODEV | MS_RDONLY, options.c_str()) == 0)
    return util::Done{};
  return failed("cannot show " + source + " in " + target);
}

} // namespace hpcml::emulate
