// SPDX-License-Identifier: MIT
// What the kernel of this node has said since a moment, and whether it is of a GPU that has failed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hpcml::node_health {

/// The message, where a driver describes an error of its GPU, or of a switch between GPUs, that no program
/// makes and after which the device has to be reset: NVIDIA's Xid 48, 64, 74, 79, 95, 119, 120 and 140
/// (docs.nvidia.com/deploy/xid-errors), fatal SXids (Fabric Manager User Guide), errors of memory that amdgpu
/// could not correct (Linux, drivers/gpu/drm/amd/amdgpu/amdgpu_ras.c). Nothing for any other.
std::optional<std::string> find_gpu_fault(std::string_view message);

/// The kernel's messages from now on. Silent where this user may not read them (kernel.dmesg_restrict).
class KernelLog {
public:
  explicit KernelLog(const std::string& path = "/dev/kmsg");
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  /// Those since the last call; does not wait.
  std::vector<std::string> take();

private:
  int x_fd = -1;
};

} // namespace hpcml::node_health
