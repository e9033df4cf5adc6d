// SPDX-License-Identifier: MIT
#include "emulate/job_cgroups.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "core/util/cgroup_path.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/sandbox.hpp"
#include "emulate/unified_groups.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_memory = "memory"; // the controllers' names
constexpr const char* k_devices = "devices";
constexpr const char* k_privileged = "run the container with docker run --privileged, or remove "
                                     "--limit-memory, --limit-devices and --fault oom";

void end_processes_in(const fs::path& directory) {
  const auto text = util::read_file(directory / "cgroup.procs");
  if (!text) return;
  for (const auto& line : util::split(*text, '\n'))
    if (const auto pid = util::parse_unsigned(line); pid && *pid > 1)
      ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

util::Error cannot_limit(const char* controller, const util::Error& why) {
  return {fmt::format("cannot limit the {} of jobs ({}): {}", controller,
                      std::string_view(controller) == k_memory ? "--limit-memory, --fault oom"
                                                               : "--limit-devices",
                      why.what),
          why.hint.empty() ? k_privileged : why.hint};
}

/// Makes a group whose members have their memory counted, or devices limited.
util::Result<std::string> make_group(const char* controller) {
  if (::geteuid() != 0)
    return util::Error{
        "only root can create control groups, which limit jobs",
        "run hpcml emulate as root, or remove --limit-memory, --limit-devices and --fault oom"};
  TRY(const auto cgroup, util::read_file("/proc/self/cgroup"));
  TRY(const auto mounts, util::read_file("/proc/self/mountinfo"));
  const auto place = util::parse_group_place(controller, cgroup, mounts);
  if (!place)
    return util::Error{
        fmt::format("this machine has no control groups for {}, or its container hides them", controller),
        k_privileged};
  if (place->unified) return make_unified_group(*place, cgroup);
  auto directory = place->top + (place->path == "/" ? "" : place->path) + "/hpcml-XXXXXX";
  if (::mkdtemp(directory.data()) == nullptr)
    return util::Error{fmt::format("cannot create a control group for the limits of jobs in {}: {}",
                                   fs::path(directory).parent_path().string(), std::strerror(errno)),
                       k_privileged};
  return directory;
}

/// What the node's Slurm takes for the tree of a controller of cgroup v1.
util::Status make_tree_view(const std::string& group, const std::string& node, const SandboxMount& view,
                            const char* controller) {
  const auto directory = fs::path(view.source) / controller;
  const auto own = node_group(group, node);
  std::error_code error;
  fs::create_directory(own, error);
  if (!error) fs::create_directories(directory, error);
  if (!error) fs::create_directories(view.target, error);
  // Slurm takes a directory for the top of the tree where this is, and only the real one has it.
  if (!error) TRY_DONE(util::write_file(directory / "release_agent", "\n"));
  for (fs::directory_iterator entry(group, error), end; !error && entry != end; entry.increment(error))
    if (std::error_code none; !entry->is_directory(none))
      fs::create_symlink(entry->path(), directory / entry->path().filename(), error);
  // The second name is that of a Slurm that was built for one node a machine.
  for (const auto& name : {"slurm_" + node, std::string("slurm")})
    if (!error) fs::create_directory_symlink(own, directory / name, error);
  if (error) return util::Error{view.source + ": " + error.message(), {}};
  return util::Success{};
}

/// Where the node's Slurm is shown what make_group_view makes.
SandboxMount group_mount(const std::string& group, const std::string& state_dir, const std::string& node) {
  // Slurm looks for the top of the tree where process 1 is, which on a node is outside of it (from 23.02 on).
  if (is_unified_group(group)) return {state_dir + "/cgroup_of_init", "/proc/1/cgroup"};
  return {state_dir + "/nodes/" + node + "/cgroup", state_dir + "/cgroup"};
}

void remove_group(const std::string& group) {
  constexpr auto k_pause = std::chrono::milliseconds(5);
  constexpr unsigned k_most = 4000; // a process that waits for a disk ends when that has answered
  if (group.empty()) return;
  for (unsigned round = 0; round < k_most; ++round) {
    for (const auto& directory : directories_of_group(group))
      if (::rmdir(directory.c_str()) != 0) end_processes_in(directory);
    if (::access(group.c_str(), F_OK) != 0) return;
    std::this_thread::sleep_for(k_pause);
  }
}

} // namespace

std::vector<fs::path> directories_of_group(const fs::path& group) {
  std::vector<fs::path> directories;
  std::error_code lost;
  for (fs::directory_iterator entry(group, lost), end; !lost && entry != end; entry.increment(lost)) {
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(entry->path(), ignored))) continue;
    const auto inner = directories_of_group(entry->path());
    directories.insert(directories.end(), inner.begin(), inner.end());
  }
  directories.push_back(group);
  return directories;
}

util::Result<JobCgroups> make_job_groups(const ConstrainedResources& limits) {
  JobCgroups groups;
  if (limits.memory) {
    auto made = make_group(k_memory);
    if (!made) return cannot_limit(k_memory, made.error());
    groups.memory = *made;
  }
  if (!limits.devices) return groups;
  if (!groups.memory.empty() && is_unified_group(groups.memory)) {
    groups.devices = groups.memory;
    return groups;
  }
  auto made = make_group(k_devices);
  if (!made) {
    remove_job_groups(groups);
    return cannot_limit(k_devices, made.error());
  }
  groups.devices = *made;
  return groups;
}

void remove_job_groups(const JobCgroups& groups) {
  remove_group(groups.memory);
  remove_group(groups.devices);
}

std::string node_group(const std::string& group, const std::string& node) { return group + "/slurm_" + node; }

util::Status make_group_view(const JobCgroups& groups, const std::string& node,
                             const std::string& state_dir) {
  const auto view = group_mount(groups.any(), state_dir, node);
  if (is_unified_group(groups.any())) {
    TRY_DONE(util::write_file(view.source, "0::/\n"));
    const auto made = make_unified_node(node_group(groups.any(), node));
    return made ? made
                : util::Status(cannot_limit(groups.memory.empty() ? k_devices : k_memory, made.error()));
  }
  for (const auto& [group, controller] : {std::pair(groups.memory, k_memory), {groups.devices, k_devices}}) {
    if (group.empty()) continue;
    if (const auto made = make_tree_view(group, node, view, controller); !made)
      return cannot_limit(controller, made.error());
  }
  return util::Success{};
}

void show_group_view(SandboxNode& node, const JobCgroups& groups, const std::string& state_dir) {
  node.mounts.push_back(group_mount(groups.any(), state_dir, node.name));
  if (is_unified_group(groups.any())) node.unified_group = node_group(groups.any(), node.name);
}

std::string make_cgroup_conf(const JobCgroups& groups, const std::string& state_dir,
                             const SlurmInstall& slurm) {
  if (groups.any().empty()) return make_idle_cgroup_conf(slurm);
  const bool unified = is_unified_group(groups.any());
  std::string text = unified ? "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\n"
                             : "CgroupPlugin=cgroup/v1\nCgroupMountpoint=" +
                                   group_mount(groups.any(), state_dir, "").target + "\n";
  if (!groups.devices.empty()) text += "ConstrainDevices=yes\n";
  if (!groups.memory.empty()) text += "ConstrainRAMSpace=yes\n";
  if (::access((groups.memory + "/memory.memsw.limit_in_bytes").c_str(), F_OK) == 0)
    text += "ConstrainSwapSpace=yes\nAllowedSwapSpace=0\n";
  return text;
}

} // namespace hpcml::emulate
