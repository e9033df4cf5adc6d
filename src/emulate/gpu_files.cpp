// SPDX-License-Identifier: MIT
#include "emulate/gpu_files.hpp"

#include <cstdio>
#include <unistd.h>

namespace hpcml::emulate {

namespace {

bool is_shown(const model::NodeType& type) { return type.gpu && type.gpu->vendor == "nvidia"; }

/// The profile's address, else one in the order of the indices.
std::string pci_address(const model::GpuShape& gpu, unsigned index) {
  if (index < gpu.places.size() && !gpu.places[index].pci.empty()) return gpu.places[index].pci;
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", (0x10 + index) & 0xff);
  return text;
}

} // namespace

std::map<std::string, std::string> make_gpu_files(const model::NodeType& type) {
  std::map<std::string, std::string> files;
  if (!is_shown(type)) return files;
  const auto& gpu = *type.gpu;
  for (unsigned i = 0; i < gpu.per_node; ++i) {
    const auto pci = pci_address(gpu, i);
    const bool known = i < gpu.places.size() && gpu.places[i].numa;
    files["driver/nvidia/gpus/" + pci + "/information"] = "Model: \t\t " + gpu.model + "\nBus Location: \t " +
                                                          pci + "\nDevice Minor: \t " + std::to_string(i) +
                                                          "\n";
    files["pci/" + pci + "/numa_node"] =
        (known ? std::to_string(*gpu.places[i].numa) : std::string("-1")) + "\n";
    files["pci/" + pci + "/vendor"] = "0x10de\n";
    files["pci/" + pci + "/class"] = "0x030200\n";
  }
  return files;
}

std::vector<SandboxMount> gpu_mounts(const model::NodeType& type, const std::string& folder) {
  std::vector<SandboxMount> mounts;
  if (!is_shown(type)) return mounts;
  for (const auto& mount : {SandboxMount{folder + "/driver", "/proc/driver"},
                            SandboxMount{folder + "/pci", "/sys/bus/pci/devices"}})
    if (::access(mount.target.c_str(), F_OK) == 0) mounts.push_back(mount);
  return mounts;
}

} // namespace hpcml::emulate
