// SPDX-License-Identifier: MIT
#include "emulate/gpu_files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "core/util/text.hpp"

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
  if (arch.size() < 6 || !arch.starts_with("gfx")) return 0;
  const auto digits = arch.size();
  const auto number = [](const std::string& text, int base) {
    return static_cast<unsigned>(std::strtoul(text.c_str(), nullptr, base));
  };
  return number(arch.substr(3, digits - 5), 10) * 10000 + number(arch.substr(digits - 2, 1), 16) * 100 +
         number(arch.substr(digits - 1), 16);
}

/// The kernel's nodes for CPUs come first, one for each NUMA domain.
void add_kfd(std::map<std::string, std::string>& files, const model::NodeType& type) {
  const std::string top = "class/kfd/kfd/topology/";
  files[top + "generation_id"] = "2\n";
  files[top + "system_properties"] = "platform_oem 0\nplatform_id 0\nplatform_rev 0\n";
  const auto add = [&](std::size_t number, unsigned gpu_id, const std::string& name,
                       const std::string& properties) {
    const std::string node = top + "nodes/" + std::to_string(number) + "/";
    files[node + "gpu_id"] = std::to_string(gpu_id) + "\n";
    files[node + "name"] = name + "\n";
    files[node + "properties"] = properties;
  };
  const std::size_t domains = std::max<std::size_t>(1, type.cpu.numa.size());
  for (std::size_t i = 0; i < domains; ++i)
    add(i, 0, "",
        "cpu_cores_count " + std::to_string(type.cpu.all().size() / domains) +
            "\nsimd_count 0\nvendor_id 0\nlocation_id 0\ndomain 0\n");
  const auto& gpu = *type.gpu;
  for (unsigned i = 0; i < gpu.per_node; ++i) {
    const auto pci = parse_pci(pci_address(gpu, i));
    add(domains + i, 1000 + i, gpu.arch,
        "cpu_cores_count 0\nsimd_count 440\nvendor_id 4098\nlocation_id " +
            std::to_string(pci.bus << 8 | pci.device << 3 | pci.function) + "\ndomain " +
            std::to_string(pci.domain) + "\ndrm_render_minor " + std::to_string(128 + i) +
            "\ngfx_target_version " + std::to_string(target_version(gpu.arch)) + "\n");
  }
}

/// The sevenths of a GPU in "a100_3g.20gb"; 7 where the name does not state.
unsigned sevenths(const std::string& name) {
  const auto letter = name.find("g.");
  if (letter == std::string::npos || letter == 0 || name[letter - 1] < '1' || name[letter - 1] > '7')
    return 7;
  return static_cast<unsigned>(name[letter - 1] - '0');
}

} // namespace

std::vector<EmulatedMigInstance> cut_gpus(const model::GpuShape& gpu) {
  std::vector<EmulatedMigInstance> parts;
  const auto kinds = gpu.slices.size();
  if (kinds == 0 || gpu.per_node == 0) return parts;
  std::vector<unsigned> used(gpu.per_node);
  for (std::size_t i = 0; i < std::max<std::size_t>(kinds, gpu.per_node); ++i) {
    const auto owner = static_cast<unsigned>(i % gpu.per_node);
    const auto& slice = gpu.slices[i % kinds];
    for (unsigned part = 0; part < 7 / sevenths(slice.name); ++part)
      parts.push_back({&slice, owner, used[owner]++});
  }
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.gpu < b.gpu; });
  return parts;
}

std::string part_uuid(const EmulatedMigInstance& part, const std::string& node) {
  const auto seed = node + "/" + std::to_string(part.gpu) + "/" + std::to_string(part.number);
  const auto high = util::fnv1a(seed), low = util::fnv1a(part.slice->name + seed);
  char text[48];
  std::snprintf(text, sizeof text, "MIG-%08llx-%04llx-5%03llx-8%03llx-%012llx", high >> 32,
                high >> 16 & 0xffff, high & 0xfff, low >> 48 & 0xfff, low & 0xffffffffffff);
  return text;
}

std::map<std::string, std::string> make_gpu_files(const model::NodeType& type, bool slices) {
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
      files["driver/nvidia/gpus/" + pci + "/information"] = "Model: \t\t " + gpu.model +
                                                            "\nBus Location: \t " + pci +
                                                            "\nDevice Minor: \t " + std::to_string(i) + "\n";
    files["pci/" + pci + "/numa_node"] =
        (known ? std::to_string(*gpu.places[i].numa) : std::string("-1")) + "\n";
    files["pci/" + pci + "/vendor"] = amd ? "0x1002\n" : "0x10de\n";
    files["pci/" + pci + "/class"] = amd ? "0x038000\n" : "0x030200\n";
  }
  if (slices)
    for (const auto& part : cut_gpus(gpu))
      files["driver/nvidia/capabilities/gpu" + std::to_string(part.gpu) + "/mig/gi" +
            std::to_string(part.number + 7) + "/ci0/access"] =
          "DeviceFileMinor: " + std::to_string(part.gpu * 135 + part.number * 9 + 4) +
          "\nDeviceFileMode: 292\nDeviceFileModify: 1\n";
  return files;
}

std::vector<SandboxMount> gpu_mounts(const model::NodeType& type, const std::string& directory) {
  std::vector<SandboxMount> mounts;
  if (make_gpu_files(type, false).empty()) return mounts;
  if (type.gpu->vendor == model::GpuVendor::amd) mounts.push_back({directory + "/class", "/sys/class", true});
  for (const auto& mount : {SandboxMount{directory + "/driver", "/proc/driver"},
                            SandboxMount{directory + "/pci", "/sys/bus/pci/devices"}})
    if (::access(mount.source.c_str(), F_OK) == 0 && ::access(mount.target.c_str(), F_OK) == 0)
      mounts.push_back(mount);
  return mounts;
}

} // namespace hpcml::emulate
