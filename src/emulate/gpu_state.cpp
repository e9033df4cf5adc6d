// SPDX-License-Identifier: MIT
#include "emulate/gpu_state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "core/util/file.hpp"
#include "emulate/cluster_start.hpp"
#include "emulate/gpu_files.hpp"
#include "emulate/slurm_files.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;

/// The folder that nodes of one kind see the GPUs' files of.
std::string gpu_folder(const std::string& state_dir, const ClusterNode& node) {
  return state_dir + "/gpus/" + node.type->id + (node.slices ? "/parts" : "/whole");
}

constexpr const char* k_detected_gpus = "/fake_gpus.conf"; // slurmd's name for it

bool has_slices(const ClusterLayout& layout) {
  return std::any_of(layout.nodes.begin(), layout.nodes.end(), [](const auto& node) { return node.slices; });
}

/// Devices of their own, one for each path of gpu_device_path. No driver is behind them: who may open one is
/// told that (ENXIO), all others that they may not (EPERM).
util::Status make_gpu_devices(const std::string& state_dir, unsigned count) {
  constexpr unsigned k_major = 60; // for local use: Linux, Documentation/admin-guide/devices.txt
  const auto folder = state_dir + "/dev";
  const auto cannot = [](const std::string& what) {
    return util::Error{"the devices of jobs cannot be limited: " + what + ": " + std::strerror(errno),
                       "in a container: docker run --privileged"};
  };
  // The sandbox's own files are on a file system without devices.
  if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755") != 0)
    return cannot(folder);
  for (unsigned gpu = 0; gpu < count; ++gpu) {
    const auto path = gpu_device_path(state_dir, gpu);
    if (::mknod(path.c_str(), S_IFCHR | 0666, makedev(k_major, gpu)) != 0 || ::chmod(path.c_str(), 0666) != 0)
      return cannot(path);
  }
  return util::Done{};
}

} // namespace

util::Status make_gpu_state(const std::string& state_dir, const ClusterRun& run) {
  std::map<std::string, std::string> files;
  unsigned devices = 0;
  for (const auto& kind : group_by_kind(run.layout)) {
    const auto& first = *kind.front();
    for (const auto& [name, text] : make_gpu_files(*first.type, first.slices))
      files[gpu_folder(state_dir, first) + "/" + name] = text;
    devices = std::max(devices, count_devices(first));
  }
  if (has_slices(run.layout)) {
    files[state_dir + k_detected_gpus] = "";
    for (const auto& node : run.layout.nodes)
      files[state_dir + "/nodes/" + node.name + k_detected_gpus] =
          make_detected_gpus(*run.site, node, state_dir, wants_whole_sockets(run.slurm));
  }
  if (run.limit_devices) TRY_DONE(make_gpu_devices(state_dir, devices));
  for (unsigned gpu = 0; gpu < devices && !run.limit_devices; ++gpu)
    files[gpu_device_path(state_dir, gpu)] = "";
  for (const auto& [path, text] : files) {
    std::error_code error;
    fs::create_directories(fs::path(path).parent_path(), error);
    TRY_DONE(util::write_file(path, text));
  }
  return util::Done{};
}

void add_gpu_mounts(SandboxNode& made, const ClusterRun& run, const ClusterNode& node,
                    const std::string& state_dir) {
  if (has_slices(run.layout))
    made.mounts.push_back({state_dir + "/nodes/" + node.name + k_detected_gpus, state_dir + k_detected_gpus});
  // A bound /dev/null is a character device without the right to make one.
  for (unsigned gpu = 0; gpu < count_devices(node) && !run.limit_devices; ++gpu)
    made.mounts.push_back({"/dev/null", gpu_device_path(state_dir, gpu)});
  for (const auto& mount : gpu_mounts(*node.type, gpu_folder(state_dir, node))) made.mounts.push_back(mount);
}

} // namespace hpcml::emulate
