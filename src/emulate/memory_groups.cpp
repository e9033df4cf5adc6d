// SPDX-License-Identifier: MIT
#include "emulate/memory_groups.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <thread>
#include <unistd.h>
#include <vector>

#include "emulate/unified_groups.hpp"
#include "util/file.hpp"
#include "util/memory_place.hpp"
#include "util/text.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

constexpr const char* k_cannot_limit = "the memory of jobs cannot be limited: ";
constexpr const char* k_cannot_limit_devices = "the devices of jobs cannot be limited: ";
constexpr const char* k_privileged = "in a container: docker run --privileged";

void end_processes_in(const fs::path& folder) {
  const auto text = util::read_file(folder / "cgroup.procs");
  if (!text) return;
  for (const auto& line : util::split(*text, '\n'))
    if (const auto pid = util::parse_unsigned(line); pid && *pid > 1)
      ::kill(static_cast<pid_t>(*pid), SIGKILL);
}

struct FoundPlace {
  util::MemoryPlace place;
  std::string cgroup; ///< text of /proc/self/cgroup
};

util::Result<FoundPlace> find_place(const char* controller) {
  if (::geteuid() != 0)
    return util::Error{"only root may make the control groups for that", "run it as root"};
  TRY(const auto cgroup, util::read_file("/proc/self/cgroup"));
  TRY(const auto mounts, util::read_file("/proc/self/mountinfo"));
  const auto place = util::parse_group_place(controller, cgroup, mounts);
  if (!place)
    return util::Error{std::string("this machine shows no control groups of ") + controller, k_privileged};
  return FoundPlace{*place, cgroup};
}

util::Result<std::string> make_group_in(const util::MemoryPlace& place, const char* cannot) {
  auto folder = place.top + (place.path == "/" ? "" : place.path) + "/hpcml-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr)
    return util::Error{cannot + fs::path(folder).parent_path().string() + ": " + std::strerror(errno),
                       k_privileged};
  return folder;
}

/// What the node's Slurm takes for the tree of a controller of cgroup v1.
util::Status make_tree_view(const std::string& group, const std::string& node, const SandboxMount& view,
                            const char* controller) {
  const auto folder = fs::path(view.source) / controller;
  const auto own = node_memory_group(group, node);
  std::error_code error;
  fs::create_directory(own, error);
  if (!error) fs::create_directories(folder, error);
  if (!error) fs::create_directories(view.target, error);
  // Slurm takes a folder for the top of the tree where this is, and only the real one has it.
  if (!error) TRY_DONE(util::write_file(folder / "release_agent", "\n"));
  for (fs::directory_iterator entry(group, error), end; !error && entry != end; entry.increment(error))
    if (!entry->is_directory()) fs::create_symlink(entry->path(), folder / entry->path().filename(), error);
  // The second name is that of a Slurm that was built for one node a machine.
  for (const auto& name : {"slurm_" + node, std::string("slurm")})
    if (!error) fs::create_directory_symlink(own, folder / name, error);
  if (error) return util::Error{view.source + ": " + error.message(), {}};
  return util::Done{};
}

/// Where the node's Slurm is shown what make_memory_view makes.
SandboxMount memory_mount(const std::string& group, const std::string& state_dir, const std::string& node) {
  // Slurm looks for the top of the tree where process 1 is, which on a node is outside of it (from 23.02 on).
  if (is_unified_group(group)) return {state_dir + "/cgroup_of_init", "/proc/1/cgroup"};
  return {state_dir + "/nodes/" + node + "/cgroup", state_dir + "/cgroup"};
}

} // namespace

util::Result<std::string> make_memory_group() {
  const auto cannot = [](const util::Error& error) {
    return util::Error{k_cannot_limit + error.what, error.hint};
  };
  const auto place = find_place("memory");
  if (!place) return cannot(place.error());
  if (!place->place.unified) return make_group_in(place->place, k_cannot_limit);
  auto unified = make_unified_group(place->place, place->cgroup);
  return unified ? std::move(unified) : cannot(unified.error());
}

util::Result<std::string> make_device_group() {
  const auto place = find_place("devices");
  if (!place) return util::Error{k_cannot_limit_devices + place.error().what, place.error().hint};
  if (place->place.unified)
    return util::Error{std::string(k_cannot_limit_devices) +
                           "this machine has cgroup v2 alone, with which emulated nodes limit memory only",
                       "a machine whose kernel was started with systemd.unified_cgroup_hierarchy=0 has v1"};
  return make_group_in(place->place, k_cannot_limit_devices);
}

std::vector<fs::path> folders_of_group(const fs::path& group) {
  std::vector<fs::path> folders;
  std::error_code gone;
  for (fs::directory_iterator entry(group, gone), end; !gone && entry != end; entry.increment(gone)) {
    std::error_code ignored;
    if (!fs::is_directory(fs::symlink_status(entry->path(), ignored))) continue;
    const auto inner = folders_of_group(entry->path());
    folders.insert(folders.end(), inner.begin(), inner.end());
  }
  folders.push_back(group);
  return folders;
}

void remove_memory_group(const std::string& group) {
  constexpr auto k_pause = std::chrono::milliseconds(5);
  constexpr unsigned k_most = 4000; // a process that waits for a disk ends when that has answered
  if (group.empty()) return;
  for (unsigned round = 0; round < k_most; ++round) {
    for (const auto& folder : folders_of_group(group))
      if (::rmdir(folder.c_str()) != 0) end_processes_in(folder);
    if (::access(group.c_str(), F_OK) != 0) return;
    std::this_thread::sleep_for(k_pause);
  }
}

std::string node_memory_group(const std::string& group, const std::string& node) {
  return group + "/slurm_" + node;
}

util::Status make_memory_view(const std::string& group, const std::string& node,
                              const std::string& state_dir) {
  const auto view = memory_mount(group, state_dir, node);
  if (is_unified_group(group)) {
    TRY_DONE(util::write_file(view.source, "0::/\n"));
    const auto made = make_unified_node(node_memory_group(group, node));
    return made ? made : util::Status(util::Error{k_cannot_limit + made.error().what, {}});
  }
  const auto made = make_tree_view(group, node, view, "memory");
  return made ? made : util::Status(util::Error{k_cannot_limit + made.error().what, {}});
}

util::Status make_device_view(const std::string& group, const std::string& node,
                              const std::string& state_dir) {
  const auto made = make_tree_view(group, node, memory_mount(group, state_dir, node), "devices");
  return made ? made : util::Status(util::Error{k_cannot_limit_devices + made.error().what, {}});
}

void show_memory_view(SandboxNode& node, const std::string& group, const std::string& state_dir) {
  node.mounts.push_back(memory_mount(group, state_dir, node.name));
  if (is_unified_group(group)) node.unified_group = node_memory_group(group, node.name);
}

std::string make_cgroup_conf(const std::string& memory_group, const std::string& device_group,
                             const std::string& state_dir, const SlurmInstall& slurm) {
  if (memory_group.empty() && device_group.empty()) return make_idle_cgroup_conf(slurm);
  const auto& any = memory_group.empty() ? device_group : memory_group;
  if (is_unified_group(any)) return "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\n";
  std::string text =
      "CgroupPlugin=cgroup/v1\nCgroupMountpoint=" + memory_mount(any, state_dir, "").target + "\n";
  if (!device_group.empty()) text += "ConstrainDevices=yes\n";
  if (memory_group.empty()) return text;
  text += "ConstrainRAMSpace=yes\n";
  if (::access((memory_group + "/memory.memsw.limit_in_bytes").c_str(), F_OK) == 0)
    text += "ConstrainSwapSpace=yes\nAllowedSwapSpace=0\n";
  return text;
}

} // namespace hpcml::emulate
