// SPDX-License-Identifier: MIT
#include "emulate/gpu_files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace hpcml::emulate {

namespace {

/// The profile's address, else one in the order of the indices.
std::string pci_address(const model::GpuShape& gpu, unsigned index) {
  if (index < gpu.places.size() && !gpu.places[index].pci.empty()) return gpu.places[index].pci;
  char text[16];
  std::snprintf(text, sizeof text, "0000:%02x:00.0", (0x10 + index) & 0xff);
  return text;
}

struct PciNumbers {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
};

PciNumbers parse_pci(const std::string& address) {
  PciNumbers pci;
  std::sscanf(address.c_str(), "%x:%x:%x.%x", &pci.domain, &pci.bus, &pci.device, &pci.function);
  return pci;
}

/// 90010 of "gfx90a": two decimal digits each for minor and stepping, which the name has in hexadecimal.
unsigned target_version(const std::string& arch) {
  if (arch.size() < 6 || arch.compare(0, 3, "gfx") != 0) return 0;
  const auto digits = arch.size();
  const auto number = [](const std::string& text, int base) { return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, base)); };
  return number(arch.substr(3, digits - 5), 10) * 10000 + number(arch.substr(digits - 2, 1), 16) * 100 +
         number(arch.substr(digits - 1), 16);
}

/// The kernel's nodes for CPUs come first, one for each NUMA domain.
void add_kfd(std::map<std::string, std::string>& files, const model::NodeType& type) {
  const std::string top = "class/kfd/kfd/topology/";
  files[top + "generation_id"] = "2\n";
  files[top + "system_properties"] = "platform_oem 0\nplatform_id 0\nplatform_rev 0\n";
  const auto add = [&](std::size_t number, unsigned gpu_id, const std::string& name, const std::string& properties) {
    const std::string node = top + "nodes/" + std::to_string(number) + "/";
    files[node + "gpu_id"] = std::to_string(gpu_id) + "\n";
    files[node + "name"] = name + "\n";
    files[node + "properties"] = properties;
  };
  const std::size_t domains = std::max<std::size_t>(1, type.cpu.numa.size());
  for (std::size_t i = 0; i < domains; ++i)
    add(i, 0, "", "cpu_cores_count " + std::to_string(type.cpu.all().size() / domains) + "\nsimd_count 0\nvendor_id 0\nlocation_id 0\ndomain 0\n");
  const auto& gpu = *type.gpu;
  for (unsigned i = 0; i < gpu.per_node; ++i) {
    const auto pci = parse_pci(pci_address(gpu, i));
    add(domains + i, 1000 + i, gpu.arch,
        "cpu_cores_count 0\nsimd_count 440\nvendor_id 4098\nlocation_id " +
            std::to_string(pci.bus << 8 | pci.device << 3 | pci.function) + "\ndomain " + std::to_string(pci.domain) +
            "\ndrm_render_minor " + std::to_string(128 + i) + "\ngfx_target_version " + std::to_string(target_version(gpu.arch)) + "\n");
  }
}

} // namespace

std::map<std::string, std::string> make_gpu_files(const model::NodeType& type) {
  std::map<std::string, std::string> files;
  if (!type.gpu) return files;
  const auto& gpu = *type.gpu;
  const bool amd = gpu.vendor == model::GpuVendor::amd;
  if (!amd && gpu.vendor != model::GpuVendor::nvidia) return files;
  if (amd) add_kfd(files, type);
  for (unsigned i = 0; i < gpu.per_node; ++i) {
    const auto pci = pci_address(gpu, i);
    const bool known = i < gpu.places.size() && gpu.places[i].numa;
    if (!amd)
      files["driver/nvidia/gpus/" + pci + "/information"] =
          "Model: \t\t " + gpu.model + "\nBus Location: \t " + pci + "\nDevice Minor: \t " + std::to_string(i) + "\n";
    files["pci/" + pci + "/numa_node"] =
        (known ? std::to_string(*gpu.places[i].numa) : std::string("-1")) + "\n";
    files["pci/" + pci + "/vendor"] = amd ? "0x1002\n" : "0x10de\n";
    files["pci/" + pci + "/class"] = amd ? "0x038000\n" : "0x030200\n";
  }
  return files;
}

std::vector<SandboxMount> gpu_mounts(const model::NodeType& type, const std::string& folder) {
  std::vector<SandboxMount> mounts;
  if (make_gpu_files(type).empty()) return mounts;
  if (type.gpu->vendor == model::GpuVendor::amd) mounts.push_back({folder + "/class", "/sys/class", true});
  for (const auto& mount : {SandboxMount{folder + "/driver", "/proc/driver"},
                            SandboxMount{folder + "/pci", "/sys/bus/pci/devices"}})
    if (::access(mount.source.c_str(), F_OK) == 0 && ::access(mount.target.c_str(), F_OK) == 0) mounts.push_back(mount);
  return mounts;
}

} // namespace hpcml::emulate
