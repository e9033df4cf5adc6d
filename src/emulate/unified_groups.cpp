// SPDX-License-Identifier: MIT
#include "emulate/unified_groups.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/kernel_file.hpp"
#include "core/util/text.hpp"
#include "emulate/namespaces.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_host_groups = "run the container with docker run --privileged --cgroupns=host, or "
                                      "remove --limit-memory, --limit-devices and --fault oom";
constexpr const char* k_children = "cgroup.subtree_control"; ///< the controllers of the groups below
constexpr const char* k_daemons = "daemons";
constexpr const char* k_slice = "system.slice"; ///< Slurm's name for it
constexpr const char* k_tree = "/sys/fs/cgroup";

/// What nodes count: memory, and processes, since Slurm before 24.11 overlooks the last controller of a list.
constexpr const char* k_controllers[] = {"memory", "pids"};

bool hands_on(const fs::path& group) {
  const auto text = util::read_file(group / k_children).value_or("");
  const auto words = util::split(std::string(util::trim(text)), ' ');
  return std::all_of(std::begin(k_controllers), std::end(k_controllers),
                     [&](const std::string& name) { return util::contains(words, name); });
}

util::Status hand_on(const fs::path& group) {
  for (const std::string name : k_controllers)
    TRY_DONE(util::write_kernel_file(group / k_children, "+" + name));
  return util::Success{};
}

fs::path directory_of(const util::CgroupPath& place, const std::string& path) {
  return place.top + (path == "/" ? "" : path);
}

/// The nearest group, from the caller's on outwards, in which one can be made that has its memory limited.
std::optional<std::string> find_parent(const util::CgroupPath& place) {
  for (auto path = place.path;; path = util::directory_name(path)) {
    if (hands_on(directory_of(place, path))) return path;
    if (path == "/" || path.empty() || path == ".") return std::nullopt;
  }
}

/// The smallest limit of that name that the caller has inside of the group `parent`; nothing where there is
/// none.
std::optional<unsigned long long> own_limit(const util::CgroupPath& place, const std::string& parent,
                                            const char* name) {
  std::optional<unsigned long long> smallest;
  for (auto path = place.path; path != parent; path = util::directory_name(path)) {
    const auto text = util::read_file(directory_of(place, path) / name).value_or("");
    const auto limit = util::parse_unsigned(util::trim(text)); // else "max"
    if (limit) smallest = std::min(*limit, smallest.value_or(*limit));
  }
  return smallest;
}

util::Status set_limits(const fs::path& group, const util::CgroupPath& place, const std::string& parent) {
  if (const auto limit = own_limit(place, parent, "memory.max"))
    TRY_DONE(util::write_kernel_file(group / "memory.max", std::to_string(*limit)));
  // Not by Slurm: 22.05 gives a job as much swap as memory besides. Without swap there may be no such file.
  if (::access((group / "memory.swap.max").c_str(), F_OK) == 0)
    TRY_DONE(util::write_kernel_file(group / "memory.swap.max", "0"));
  return hand_on(group);
}

} // namespace

bool is_unified_group(const std::string& group) {
  return ::access((group + "/cgroup.controllers").c_str(), F_OK) == 0;
}

util::Result<std::string> make_unified_group(const util::CgroupPath& place, const std::string& cgroup) {
  if (!cgroup.starts_with("0:"))
    return util::Error{
        "this machine counts memory by cgroup v2 but also has groups of v1, which Slurm rejects",
        "add systemd.unified_cgroup_hierarchy=1 to the kernel's command line, so that it has only v2"};
  const auto parent = find_parent(place);
  if (!parent)
    return util::Error{
        fmt::format(
            "no control group from {} upwards delegates the controllers memory and pids, which limit jobs",
            directory_of(place, place.path).string()),
        fmt::format("run the container with docker run --privileged --cgroupns=host; elsewhere, run as root: "
                    "echo +memory +pids > {}/{}",
                    place.top, k_children)};
  auto directory = (directory_of(place, *parent) / "hpcml-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr)
    return util::Error{fmt::format("cannot create a control group for the limits of jobs in {}: {}",
                                   fs::path(directory).parent_path().string(), std::strerror(errno)),
                       k_host_groups};
  if (const auto set = set_limits(directory, place, *parent); !set) {
    ::rmdir(directory.c_str());
    return set.error();
  }
  return directory;
}

util::Status make_unified_node(const std::string& node_group) {
  for (const auto& directory :
       {fs::path(node_group), fs::path(node_group) / k_daemons, fs::path(node_group) / k_slice}) {
    std::error_code error;
    fs::create_directory(directory, error);
    if (error)
      return util::Error{fmt::format("cannot create control group {} for an emulated node: {}",
                                     directory.string(), error.message()),
                         "use fewer --nodes, or check cgroup.max.descendants of the parent groups"};
  }
  return util::Success{};
}

util::Status enter_unified_node(const std::string& node_group) {
  const fs::path top = node_group;
  // A new view begins at the group in which its first process is, and a group with processes hands nothing
  // on.
  TRY_DONE(util::write_kernel_file(top / "cgroup.procs", "0"));
  if (::unshare(CLONE_NEWCGROUP) != 0)
    return util::Error{fmt::format("cannot create the control group namespace of an emulated node: {}",
                                   std::strerror(errno)),
                       "use Linux 4.6 or later, or check sysctl user.max_cgroup_namespaces"};
  TRY_DONE(util::write_kernel_file(top / k_daemons / "cgroup.procs", "0"));
  TRY_DONE(hand_on(top));
  return hand_on(top / k_slice);
}

void hide_machine_groups(bool whole_sys) {
  while (::umount2(whole_sys ? "/sys" : k_tree, MNT_DETACH) == 0) {
  }
}

util::Status show_unified_node() {
  if (::mount("cgroup2", k_tree, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
    return util::Error{fmt::format("cannot mount the control groups of an emulated node at {}: {}", k_tree,
                                   std::strerror(errno)),
                       k_host_groups};
  // A slurmstepd that has ended its step goes to the top, where a real tree allows processes, and this one
  // does not.
  const auto procs = std::string("/cgroup.procs");
  return bind_mount(std::string(k_tree) + "/" + k_daemons + procs, k_tree + procs);
}

} // namespace hpcml::emulate
